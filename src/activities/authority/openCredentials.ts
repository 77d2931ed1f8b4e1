import type { KeyObject } from 'node:crypto';
import { UnsealError } from '../../crypto/sealed.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import type { DgiCredentials } from '../../dgi/wsSecurity.ts';
import { authorityRefuses } from './attempt.ts';

/**
 * Returns what signs a question on which no CFE depends. Throws the failure of an attempt that is repeated hourly if no key
 * of ours opens the certificate's.
 */
export function openCredentials(
  privateKeyOf: (certificate: Certificate) => KeyObject,
  certificate: Certificate,
): DgiCredentials {
  try {
    return { privateKey: privateKeyOf(certificate), certificateDer: certificate.certificate };
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    throw authorityRefuses('the key of the certificate cannot be opened');
  }
}
