/** Access tokens: JWTs signed with Ed25519 (RFC 8037, RFC 9864; type of RFC 9068; docs/contract.md#keys-and-tokens). */
import { randomUUID } from 'node:crypto';
import { errors, importJWK, jwtVerify, SignJWT } from 'jose';
import { ENVIRONMENTS, type Environment } from '../domain/receipts/cfeTypes.ts';

/** How long a token lasts, in seconds (docs/contract.md#limits). */
export const TOKEN_SECONDS = 3600;

const ALGORITHM = 'Ed25519';
const TYPE = 'at+jwt';
const ISSUER = 'cfe-service';
const AUDIENCE = 'cfe-api';

/** A private Ed25519 key as JWK; tokens name the key by `kid`. */
export interface TokenKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly kid: string;
  readonly x: string;
  readonly d: string;
}

/** The identity in a token. */
interface TokenClaims {
  readonly accountId: string;
  readonly keyId: string;
  readonly environment: Environment;
}

export interface Tokens {
  /** Signs, with the first key, a token that expires TOKEN_SECONDS after `now`. */
  issue(claims: TokenClaims, now: Date): Promise<string>;
  /** Returns the claims of a token with a valid signature that has not expired at `now`; otherwise null. */
  verify(token: string, now: Date): Promise<TokenClaims | null>;
}

/** Creates the issuer and verifier of tokens: the first key signs, all verify. To rotate, put the new key first and drop the old one an hour later. */
export async function createTokens(keys: readonly TokenKey[]): Promise<Tokens> {
  const [current] = keys;
  if (!current) throw new RangeError('at least one token key is needed');
  const signingKey = await importJWK({ ...current }, ALGORITHM);
  const verifying = new Map<string, Awaited<ReturnType<typeof importJWK>>>();
  for (const { kty, crv, kid, x } of keys) {
    if (verifying.has(kid)) throw new RangeError('two token keys have the same kid');
    verifying.set(kid, await importJWK({ kty, crv, x }, ALGORITHM));
  }

  return {
    issue({ accountId, keyId, environment }, now) {
      const issuedAt = Math.floor(now.getTime() / 1000);
      return new SignJWT({ account: accountId, environment })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: current.kid })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(keyId)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + TOKEN_SECONDS)
        .sign(signingKey);
    },
    async verify(token, now) {
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            const key = kid === undefined ? undefined : verifying.get(kid);
            if (!key) throw new errors.JWKSNoMatchingKey();
            return key;
          },
          {
            algorithms: [ALGORITHM],
            typ: TYPE,
            issuer: ISSUER,
            audience: AUDIENCE,
            currentDate: now,
            requiredClaims: ['sub', 'exp', 'iat', 'jti', 'account', 'environment'],
          },
        );
        return claimsOf(payload);
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

function claimsOf(payload: Record<string, unknown>): TokenClaims | null {
  const { sub, account } = payload;
  const environment = ENVIRONMENTS.find((name) => name === payload['environment']);
  if (typeof sub !== 'string' || typeof account !== 'string' || !environment) return null;
  return { accountId: account, keyId: sub, environment };
}
