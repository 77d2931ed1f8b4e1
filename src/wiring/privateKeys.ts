import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Opener } from '../crypto/sealed.ts';
import type { Certificate } from '../db/entities/Certificate.ts';

/** Opens the private keys of certificates; throws UnsealError when none of our keys fits. */
export const privateKeysUnder =
  (opener: Opener) =>
  ({ rut, id: rowId, sealedKey }: Certificate): KeyObject => {
    const der = opener.open(sealedKey, { purpose: 'certificate-key', rut, rowId });
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    der.fill(0);
    return key;
  };
