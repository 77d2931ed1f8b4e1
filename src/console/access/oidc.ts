/** Sign-in by the operator's OpenID provider: authorization code with PKCE, state and nonce (OpenID Connect Core 1.0). */
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
   * Returns the person of the query `search` from the provider. Checks signature, issuer, audience, nonce and state; throws
   * UNAUTHORIZED if one does not match.
   */
  end(search: string, visit: OidcVisit): Promise<OidcIdentity>;
}

/** Path of the console to which the provider redirects people. */
export const OIDC_RETURN = '/sign-in/oidc/return';
const WAIT_SECONDS = 10;

/** Creates the client of `issuer`; reads the provider's metadata at the first sign-in, and again after a failure. */
export function createOidc(options: {
  issuer: string;
  clientId: string;
  clientSecret: string;
  roleClaim: string;
  consoleUrl: string;
  /** Allows http: towards the provider, for development. */
  allowHttp: boolean;
}): Oidc {
  let known: Promise<client.Configuration> | undefined;
  const provider = async (): Promise<client.Configuration> => {
    known ??= client.discovery(new URL(options.issuer), options.clientId, options.clientSecret, undefined, {
      timeout: WAIT_SECONDS,
      ...(options.allowHttp ? { execute: [client.allowInsecureRequests] } : {}),
    });
    try {
      return await known;
    } catch (cause) {
      known = undefined;
      throw unavailableProvider(cause);
    }
  };
  return {
    async begin(to) {
      const config = await provider();
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
      const config = await provider();
      try {
        const tokens = await client.authorizationCodeGrant(
          config,
          new URL(options.consoleUrl + OIDC_RETURN + search),
          { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
        );
        const claims = tokens.claims();
        if (claims === undefined || typeof claims['email'] !== 'string')
          throw new TypeError('no address of e-mail');
        return {
          subject: `${claims.iss} ${claims.sub}`,
          email: claims['email'],
          emailVerified: claims['email_verified'] === true,
          operatorRole: highestRole(claims[options.roleClaim]),
        };
      } catch (cause) {
        throw new Refusal('UNAUTHORIZED', 'The OpenID provider did not vouch for you.', { cause });
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
