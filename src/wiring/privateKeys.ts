import { createPrivateKey, type KeyObject } from 'node:crypto';
import { type Opener, UnsealError } from '../crypto/sealed.ts';
import type { Certificate } from '../db/entities/enterprises.ts';

/**
 * Creates a function that decrypts the private key of a certificate; it throws UnsealError when no configured key fits,
 * or the private key was deleted.
 */
export const createKeyOpener =
  (opener: Opener) =>
  ({ rut, id: rowId, sealedKey }: Certificate): KeyObject => {
    if (sealedKey === null)
      throw new UnsealError('unknown_key', 'the private key of the replaced certificate was deleted');
    const der = opener.open(sealedKey, { purpose: 'certificate-key', rut, rowId });
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    der.fill(0);
    return key;
  };
