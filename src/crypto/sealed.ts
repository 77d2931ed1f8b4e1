/**
 * Secrets at rest, sealed with a public key and opened with the private one (X25519 and AES-256-GCM), so that the API,
 * which receives secrets, cannot read them again. The owner of a secret is authenticated, so a sealed string copied to
 * another row does not open. The sealer is not authenticated: any process that writes to the database can replace a secret.
 *
 * `v1.<key id>.<public key made for this secret>.<iv, ciphertext, tag>`.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** The owner of a sealed secret; opening requires the same value. */
export type SecretOwner = (
  | { readonly purpose: 'certificate-key' | 'efactura-login'; readonly rut: string }
  | { readonly purpose: 'webhook-secret'; readonly accountId: string }
) & {
  /** Id of the secret's row. */
  readonly rowId: string;
};

/** The public half of a key pair: 32 bytes of X25519, with the pair's id in sealed texts. */
export interface SealingKey {
  readonly id: string;
  readonly key: Uint8Array;
}

/** The private half of a key pair, 32 bytes of X25519. */
export interface OpeningKey {
  readonly id: string;
  readonly key: Uint8Array;
}

/** A sealed string that does not open: malformed, of an unknown key, or changed in text, key or owner. */
export class UnsealError extends Error {
  override readonly name = 'UnsealError';
  readonly code: 'malformed' | 'unknown_key' | 'not_authentic';

  constructor(code: UnsealError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export interface Sealer {
  seal(secret: Uint8Array, belongsTo: SecretOwner): string;
}

export interface Opener {
  /** The ids of the keys; `reseal` uses the first. */
  readonly keyIds: readonly [string, ...string[]];
  /** Returns the secret; overwrite it with zeros when done. Throws UnsealError. */
  open(sealed: string, belongsTo: SecretOwner): Buffer;
  /** Seals the secret under the first key; null if that key sealed it already. Throws UnsealError. */
  reseal(sealed: string, belongsTo: SecretOwner): string | null;
}

const FORMAT = 'v1';
const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** The header of an X25519 private key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** Creates a sealer for the holder of the private half. */
export function createSealer({ id, key }: SealingKey): Sealer {
  if (key.length !== KEY_BYTES) throw new RangeError('a sealing key has 32 bytes');
  const recipient = publicKey(key);
  return {
    seal(secret, belongsTo) {
      const sender = generateKeyPairSync('x25519');
      const senderKey = bytesOf(sender.publicKey);
      const shared = deriveKey(sender.privateKey, recipient, senderKey, key);
      const text = encrypt(shared, secret, additionalData(belongsTo, id));
      shared.fill(0);
      return [FORMAT, id, senderKey.toString('base64url'), text].join('.');
    },
  };
}

/** Creates an opener for all keys. Throws RangeError for an empty list, equal ids and keys that are not 32 bytes. */
export function createOpener(keys: readonly OpeningKey[]): Opener {
  const [current, ...others] = keys;
  if (!current) throw new RangeError('at least one key is needed');
  const byId = new Map(keys.map((one) => [one.id, one]));
  if (byId.size !== keys.length) throw new RangeError('two keys have the same id');
  if (keys.some(({ key }) => key.length !== KEY_BYTES)) throw new RangeError('a key has 32 bytes');
  const sealer = createSealer(sealingKeyOf(current));

  const open: Opener['open'] = (sealed, belongsTo) => {
    const parts = partsOf(sealed);
    const holder = byId.get(parts.keyId);
    if (!holder) throw new UnsealError('unknown_key', `key-encryption key ${parts.keyId} is not configured`);
    return openWith(holder, parts, belongsTo);
  };
  return {
    keyIds: [current.id, ...others.map(({ id }) => id)],
    open,
    reseal(sealed, belongsTo) {
      if (partsOf(sealed).keyId === current.id) return null;
      const secret = open(sealed, belongsTo);
      try {
        return sealer.seal(secret, belongsTo);
      } finally {
        secret.fill(0);
      }
    },
  };
}

/**
 * Returns the public half of a pair.
 *
 * @internal exported for tests
 */
export function sealingKeyOf({ id, key }: OpeningKey): SealingKey {
  return { id, key: bytesOf(createPublicKey(privateKey(key))) };
}

interface Parts {
  keyId: string;
  /** The public key made for this secret. */
  key: string;
  text: string;
}

function partsOf(sealed: string): Parts {
  const match = /^v1\.([a-z0-9-]{1,20})\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(sealed);
  if (!match) throw new UnsealError('malformed', 'not a sealed text');
  const [, keyId = '', key = '', text = ''] = match;
  return { keyId, key, text };
}

function openWith(holder: OpeningKey, { key, text }: Parts, belongsTo: SecretOwner): Buffer {
  const senderKey = Buffer.from(key, 'base64url');
  if (senderKey.length !== KEY_BYTES) throw new UnsealError('malformed', 'not a sealed text');
  const shared = orNotAuthentic(() =>
    deriveKey(privateKey(holder.key), publicKey(senderKey), senderKey, sealingKeyOf(holder).key),
  );
  try {
    return decrypt(shared, text, additionalData(belongsTo, holder.id));
  } finally {
    shared.fill(0);
  }
}

/** Derives the key of one secret: HKDF-SHA256 over X25519, bound to both public keys. */
function deriveKey(
  privateHalf: KeyObject,
  publicHalf: KeyObject,
  senderKey: Uint8Array,
  recipientKey: Uint8Array,
): Buffer {
  const secret = diffieHellman({ privateKey: privateHalf, publicKey: publicHalf });
  const key = hkdfSync(
    'sha256',
    secret,
    Buffer.concat([senderKey, recipientKey]),
    'cfe sealed v1',
    KEY_BYTES,
  );
  secret.fill(0);
  return Buffer.from(key);
}

const publicKey = (bytes: Uint8Array): KeyObject =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: Buffer.from(bytes).toString('base64url') },
    format: 'jwk',
  });

const privateKey = (bytes: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, bytes]), format: 'der', type: 'pkcs8' });

const bytesOf = (key: KeyObject): Buffer => Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url');

/** Returns the additional authenticated data: a JSON list, so that different owners give different bytes. */
function additionalData(belongsTo: SecretOwner, keyId: string): Buffer {
  const owner = belongsTo.purpose === 'webhook-secret' ? belongsTo.accountId : belongsTo.rut;
  return Buffer.from(JSON.stringify([FORMAT, belongsTo.purpose, owner, belongsTo.rowId, keyId]));
}

/** Returns iv, ciphertext and tag as one base64url string. */
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
  return orNotAuthentic(() =>
    Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]),
  );
}

/** Converts OpenSSL's errors for changed texts and invalid public keys. */
function orNotAuthentic<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new UnsealError('not_authentic', 'the sealed text, its key or its owner was changed');
  }
}
