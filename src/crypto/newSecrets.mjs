// @ts-check
/** New secrets of a service, each as its variable holds it. Plain JavaScript: `npm run secrets` runs on what is there. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
const PASSWORD_BYTES = 24;
const KID_BYTES = 4;

/**
 * A new key pair with its id: the private half, as an entry of CFE_KEY_ENCRYPTION_KEYS.
 * @param {string} id
 */
export function newKeyEncryptionKey(id) {
  const { d } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return `${id}:x25519-private:${Buffer.from(String(d), 'base64url').toString('base64')}`;
}

/**
 * The public half, as CFE_SEALING_KEY, of the pair that CFE_KEY_ENCRYPTION_KEYS begins with.
 * @param {string} keys
 */
export function sealingKeyFor(keys) {
  const [id, , key = ''] = String(keys.split(',')[0]).trim().split(':');
  const head = Buffer.from('302e020100300506032b656e04220420', 'hex');
  const pkcs8 = Buffer.concat([head, Buffer.from(key, 'base64')]);
  const { x } = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  });
  return `${id}:x25519-public:${Buffer.from(String(x), 'base64url').toString('base64')}`;
}

/**
 * A pepper with its id, as an entry of CFE_PEPPER or CFE_CONSOLE_PEPPER.
 * @param {string} id
 */
export const newPepper = (id) => `${id}:${randomBytes(KEY_BYTES).toString('base64')}`;

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
