import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Sealer } from '../crypto/sealed.ts';
import type { Certificate } from '../db/entities/Certificate.ts';

/** Opens the private keys of certificates; throws UnsealError when none of our keys fits. */
export const privateKeysUnder =
  (sealer: Sealer) =>
  ({ rut, id: rowId, sealedKey }: Certificate): KeyObject => {
    const der = sealer.open(sealedKey, { purpose: 'certificate-key', rut, rowId });
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    der.fill(0);
    return key;
  };
