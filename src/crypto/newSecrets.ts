/** New secrets of a service, each as its variable holds it. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
const PASSWORD_BYTES = 24;
const KID_BYTES = 4;

/** A key-encryption key with its id, as an entry of CFE_KEY_ENCRYPTION_KEYS. */
export const newKeyEncryptionKey = (id: string): string =>
  `${id}:${randomBytes(KEY_BYTES).toString('base64')}`;

/** A pepper, as CFE_PEPPER. */
export const newPepper = (): string => randomBytes(KEY_BYTES).toString('base64');

/** A token key, as an entry of CFE_TOKEN_KEYS; its `kid` begins with `prefix`. */
export function newTokenKey(prefix: string): { kty: string; crv: string; kid: string; x: string; d: string } {
  const { kty, crv, x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const kid = `${prefix}-${randomBytes(KID_BYTES).toString('hex')}`;
  return { kty: String(kty), crv: String(crv), kid, x: String(x), d: String(d) };
}

/** A password for a database; hexadecimal, so that it stands in an address without escapes. */
export const newPassword = (): string => randomBytes(PASSWORD_BYTES).toString('hex');
