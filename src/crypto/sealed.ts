/**
 * Secrets at rest: envelope encryption with AES-256-GCM. Each secret has a data key of its own, which a
 * key-encryption key of the configuration wraps; rotation wraps the data key again and leaves the secret alone. What a
 * secret belongs to is authenticated with it, so a sealed string copied to another row does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** What a sealed secret belongs to; opening it needs the same. */
export type SealedFor = (
  | { readonly purpose: 'certificate-key' | 'efactura-login'; readonly rut: string }
  | { readonly purpose: 'webhook-secret'; readonly accountId: string }
) & {
  /** Id of the row that holds it. */
  readonly rowId: string;
};

/** A key-encryption key: 32 bytes, with the id that names it in sealed texts. */
export interface KeyEncryptionKey {
  readonly id: string;
  readonly key: Uint8Array;
}

/** Why a sealed string does not open: it is malformed, its key is not configured, or string, key or place was changed. */
export class UnsealError extends Error {
  override readonly name = 'UnsealError';
  readonly code: 'malformed' | 'unknown_key' | 'not_authentic';

  constructor(code: UnsealError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export interface Sealer {
  /** The ids of the keys, the one that seals first. */
  readonly keyIds: readonly [string, ...string[]];
  /** `secret`, sealed under the first key, as a string. */
  seal(secret: Uint8Array, belongsTo: SealedFor): string;
  /** The secret; throws UnsealError. Overwrite it with zeros when done. */
  open(sealed: string, belongsTo: SealedFor): Buffer;
  /** The same secret under the first key, or null when it is under that key already; throws UnsealError. */
  rewrap(sealed: string, belongsTo: SealedFor): string | null;
}

const VERSION = 'v1';
const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A sealer: the first key seals, all keys open. Refuses an empty list, equal ids and keys not of 32 bytes. */
export function createSealer(keys: readonly KeyEncryptionKey[]): Sealer {
  const [current, ...others] = keys;
  if (!current) throw new RangeError('at least one key-encryption key is needed');
  const byId = new Map(keys.map((one) => [one.id, one]));
  if (byId.size !== keys.length) throw new RangeError('two key-encryption keys have the same id');
  if (keys.some(({ key }) => key.length !== 32)) throw new RangeError('a key-encryption key has 32 bytes');

  const wrap = (dataKey: Uint8Array, belongsTo: SealedFor): string =>
    encrypt(current.key, dataKey, authenticated(belongsTo, current.id));

  const unwrap = (parts: Parts, belongsTo: SealedFor): Buffer => {
    const holder = byId.get(parts.keyId);
    if (!holder) throw new UnsealError('unknown_key', `key-encryption key ${parts.keyId} is not configured`);
    return decrypt(holder.key, parts.wrappedKey, authenticated(belongsTo, holder.id));
  };

  return {
    keyIds: [current.id, ...others.map(({ id }) => id)],
    seal(secret, belongsTo) {
      const dataKey = randomBytes(32);
      const text = encrypt(dataKey, secret, authenticated(belongsTo));
      const wrapped = wrap(dataKey, belongsTo);
      dataKey.fill(0);
      return [VERSION, current.id, wrapped, text].join('.');
    },
    open(sealed, belongsTo) {
      const parts = partsOf(sealed);
      const dataKey = unwrap(parts, belongsTo);
      try {
        return decrypt(dataKey, parts.text, authenticated(belongsTo));
      } finally {
        dataKey.fill(0);
      }
    },
    rewrap(sealed, belongsTo) {
      const parts = partsOf(sealed);
      const dataKey = unwrap(parts, belongsTo);
      const wrapped = parts.keyId === current.id ? null : wrap(dataKey, belongsTo);
      dataKey.fill(0);
      return wrapped === null ? null : [VERSION, current.id, wrapped, parts.text].join('.');
    },
  };
}

interface Parts {
  keyId: string;
  wrappedKey: string;
  text: string;
}

function partsOf(sealed: string): Parts {
  const found = /^v1\.([a-z0-9-]{1,20})\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(sealed);
  if (!found) throw new UnsealError('malformed', 'not a sealed text');
  const [, keyId = '', wrappedKey = '', text = ''] = found;
  return { keyId, wrappedKey, text };
}

/** The additional data: a JSON list, so that no two places give the same bytes. A wrapped key is bound to its key too. */
function authenticated(belongsTo: SealedFor, keyId?: string): Buffer {
  const owner = belongsTo.purpose === 'webhook-secret' ? belongsTo.accountId : belongsTo.rut;
  const place = [VERSION, belongsTo.purpose, owner, belongsTo.rowId];
  return Buffer.from(JSON.stringify(keyId === undefined ? place : [...place, keyId]));
}

/** iv, ciphertext and tag as one base64url string. */
function encrypt(key: Uint8Array, plain: Uint8Array, additional: Uint8Array): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(additional);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

function decrypt(key: Uint8Array, text: string, additional: Uint8Array): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length < IV_BYTES + TAG_BYTES) throw new UnsealError('malformed', 'not a sealed text');
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(additional)
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw new UnsealError('not_authentic', 'the sealed text, its key or its place was changed');
  }
}
