import { generateKeyPairSync } from 'node:crypto';
import type { TokenKey } from '../../../src/crypto/tokens.ts';

/** A fresh private Ed25519 JWK. */
export function aTokenKey(kid: string): TokenKey {
  const { x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return { kty: 'OKP', crv: 'Ed25519', kid, x: String(x), d: String(d) };
}
