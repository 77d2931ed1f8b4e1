/** Sign-in with an OpenID provider: authorization code with PKCE, state and nonce (OpenID Connect Core 1.0). */
import * as client from 'openid-client';
import type { OidcIdentity } from '../../commands/people/sessions.ts';
import { OPERATOR_ROLES } from '../../domain/people/people.ts';
import { Refusal } from '../../errors.ts';

/** Stored in the browser's cookie while the person is at the provider. */
export interface OidcVisit {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
  /** The page to open after sign-in. */
  readonly to: string;
}

export interface Oidc {
  /** Returns the provider's URL, and the values to check on return. Throws UNAVAILABLE if the provider cannot be reached. */
  begin(to: string): Promise<{ url: string; visit: OidcVisit }>;
  /**
   * Returns the person to whom the provider's redirect with the query `search` belongs. Throws UNAUTHORIZED if its signature,
   * issuer, audience, nonce or state is wrong.
   */
  end(search: string, visit: OidcVisit): Promise<OidcIdentity>;
}

/** Path of the console to which the provider redirects people. */
export const OIDC_RETURN = '/sign-in/oidc/return';
const TIMEOUT_SECONDS = 10;

/** Creates the client of `issuer`. The first sign-in reads the provider's metadata; after a failure, the next one does. */
export function createOidc(options: {
  issuer: string;
  clientId: string;
  clientSecret: string;
  roleClaim: string;
  consoleUrl: string;
  /** Whether the provider may use http, for development. */
  allowHttp: boolean;
}): Oidc {
  const { issuer, clientId, clientSecret } = options;
  let discovery: Promise<client.Configuration> | undefined;
  const discover = async (): Promise<client.Configuration> => {
    discovery ??= client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: TIMEOUT_SECONDS,
      ...(options.allowHttp ? { execute: [client.allowInsecureRequests] } : {}),
    });
    try {
      return await discovery;
    } catch (cause) {
      discovery = undefined;
      throw unavailableProvider(cause);
    }
  };
  return {
    async begin(to) {
      const config = await discover();
      const verifier = client.randomPKCECodeVerifier();
      const visit = { verifier, state: client.randomState(), nonce: client.randomNonce(), to };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: options.consoleUrl + OIDC_RETURN,
        scope: 'openid email',
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: visit.state,
        nonce: visit.nonce,
      });
      return { url: url.href, visit };
    },
    async end(search, { verifier, state, nonce }) {
      const config = await discover();
      try {
        const tokens = await client.authorizationCodeGrant(
          config,
          new URL(options.consoleUrl + OIDC_RETURN + search),
          { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
        );
        const claims = tokens.claims();
        if (claims === undefined || typeof claims['email'] !== 'string')
          throw new TypeError('The ID token has no e-mail address.');
        return {
          subject: `${claims.iss} ${claims.sub}`,
          email: claims['email'],
          emailVerified: claims['email_verified'] === true,
          operatorRole: highestRole(claims[options.roleClaim]),
        };
      } catch (cause) {
        throw new Refusal('UNAUTHORIZED', 'The OpenID provider did not confirm your identity.', { cause });
      }
    },
  };
}

function unavailableProvider(cause: unknown): Refusal {
  const message = 'The OpenID provider cannot be reached.';
  return new Refusal('UNAVAILABLE', message, { faults: [{ path: '', code: 'oidc.away', message }], cause });
}

function highestRole(claim: unknown): OidcIdentity['operatorRole'] {
  const claimed: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return OPERATOR_ROLES.findLast((role) => claimed.includes(role)) ?? null;
}
