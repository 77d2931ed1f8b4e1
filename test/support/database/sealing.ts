import { readConfig } from '../../../src/config.ts';
import { newKeyEncryptionKey, sealingKeyFor } from '../../../src/crypto/newSecrets.mjs';
import {
  createOpener,
  createSealer,
  type Opener,
  type OpeningKey,
  type Sealer,
} from '../../../src/crypto/sealed.ts';

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
  const publicText = sealingKeyFor(privateText);
  const { CFE_KEY_ENCRYPTION_KEYS: keys, CFE_SEALING_KEY: sealing } = readConfig(
    ['CFE_KEY_ENCRYPTION_KEYS', 'CFE_SEALING_KEY'],
    { CFE_KEY_ENCRYPTION_KEYS: privateText, CFE_SEALING_KEY: publicText },
  );
  const [opening] = keys;
  return { opening, opener: createOpener(keys), sealer: createSealer(sealing), privateText, publicText };
}

/** Opens what any of these keys sealed; under the first it seals anew. */
export const openerOf = (...keys: readonly TestKey[]): Opener =>
  createOpener(keys.map(({ opening }) => opening));
