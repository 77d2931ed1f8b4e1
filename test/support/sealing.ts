import { createCipheriv, randomBytes } from 'node:crypto';
import { readConfig } from '../../src/config.ts';
import { newKeyEncryptionKey, sealingKeyFor } from '../../src/crypto/newSecrets.mjs';
import {
  createOpener,
  createSealer,
  type Opener,
  type OpeningKey,
  type SealedFor,
  type Sealer,
} from '../../src/crypto/sealed.ts';

/** A key that seals and opens. */
export interface TestKey {
  readonly opening: OpeningKey;
  readonly sealer: Sealer;
  /** As CFE_KEY_ENCRYPTION_KEYS holds it. */
  readonly privateText: string;
}

/** A new key pair. */
export function aKeyPair(id = 'test'): TestKey & { opener: Opener; publicText: string } {
  const privateText = newKeyEncryptionKey(id);
  const publicText = String(sealingKeyFor(privateText));
  const { CFE_KEY_ENCRYPTION_KEYS: keys, CFE_SEALING_KEY: sealing } = readConfig(
    ['CFE_KEY_ENCRYPTION_KEYS', 'CFE_SEALING_KEY'],
    { CFE_KEY_ENCRYPTION_KEYS: privateText, CFE_SEALING_KEY: publicText },
  );
  const [opening] = keys;
  return { opening, opener: createOpener(keys), sealer: createSealer(sealing), privateText, publicText };
}

/** A symmetric key, and sealing under it as the versions before key pairs did it. */
export function anOldKey(id: string): TestKey {
  const key = randomBytes(32);
  const encrypt = (by: Uint8Array, plain: Uint8Array, place: readonly string[]): string => {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', by, iv).setAAD(Buffer.from(JSON.stringify(place)));
    return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    );
  };
  return {
    opening: { id, kind: 'aes', key },
    privateText: `${id}:${key.toString('base64')}`,
    sealer: {
      seal(secret, belongsTo: SealedFor) {
        const owner = belongsTo.purpose === 'webhook-secret' ? belongsTo.accountId : belongsTo.rut;
        const place = ['v1', belongsTo.purpose, owner, belongsTo.rowId];
        const dataKey = randomBytes(32);
        return ['v1', id, encrypt(key, dataKey, [...place, id]), encrypt(dataKey, secret, place)].join('.');
      },
    },
  };
}

/** Opens what any of these keys sealed; under the first it seals anew. */
export const openerOf = (...keys: readonly TestKey[]): Opener =>
  createOpener(keys.map(({ opening }) => opening));
