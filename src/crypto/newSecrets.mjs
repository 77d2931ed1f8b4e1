// @ts-check
/** Creates the secrets of a service in the form of its variables. Plain JavaScript: `npm run secrets` needs no install. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
const PASSWORD_BYTES = 24;
const KID_BYTES = 4;

/**
 * Creates a key pair and returns its private half with its id, as an entry of CFE_KEY_ENCRYPTION_KEYS.
 * @param {string} id
 */
export function newKeyEncryptionKey(id) {
  const { d } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return `${id}:x25519-private:${Buffer.from(String(d), 'base64url').toString('base64')}`;
}

/**
 * Returns the public half, as CFE_SEALING_KEY, of the first pair in CFE_KEY_ENCRYPTION_KEYS.
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
 * Creates a pepper with its id, as an entry of CFE_PEPPER or CFE_CONSOLE_PEPPER.
 * @param {string} id
 */
export const newPepper = (id) => `${id}:${randomBytes(KEY_BYTES).toString('base64')}`;

/**
 * Creates a token key, as an entry of CFE_TOKEN_KEYS; its `kid` starts with `prefix`.
 * @param {string} prefix
 */
export function newTokenKey(prefix) {
  const { kty, crv, x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const kid = `${prefix}-${randomBytes(KID_BYTES).toString('hex')}`;
  return { kty: String(kty), crv: String(crv), kid, x: String(x), d: String(d) };
}

/** Creates a database password; hexadecimal, so that addresses need no escapes. */
export const newPassword = () => randomBytes(PASSWORD_BYTES).toString('hex');
