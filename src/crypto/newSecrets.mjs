// @ts-check
/** New secrets of a service, each as its variable holds it. Plain JavaScript: `npm run secrets` runs on what is there. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
const PASSWORD_BYTES = 24;
const KID_BYTES = 4;

/**
 * A key-encryption key with its id, as an entry of CFE_KEY_ENCRYPTION_KEYS.
 * @param {string} id
 */
export const newKeyEncryptionKey = (id) => `${id}:${randomBytes(KEY_BYTES).toString('base64')}`;

/** A pepper, as CFE_PEPPER. */
export const newPepper = () => randomBytes(KEY_BYTES).toString('base64');

/**
 * A token key, as an entry of CFE_TOKEN_KEYS; its `kid` begins with `prefix`.
 * @param {string} prefix
 */
export function newTokenKey(prefix) {
  const { kty, crv, x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const kid = `${prefix}-${randomBytes(KID_BYTES).toString('hex')}`;
  return { kty: String(kty), crv: String(crv), kid, x: String(x), d: String(d) };
}

/** A password for a database; hexadecimal, so that it stands in an address without escapes. */
export const newPassword = () => randomBytes(PASSWORD_BYTES).toString('hex');
