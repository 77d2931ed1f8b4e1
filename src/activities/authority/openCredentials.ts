import type { KeyObject } from 'node:crypto';
import { UnsealError } from '../../crypto/sealed.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import type { DgiCredentials } from '../../dgi/wsSecurity.ts';
import { authorityRefuses } from './attempt.ts';

/**
 * Returns key and certificate for a question that delays no CFE. Throws a failure that is retried hourly if the private key
 * cannot be decrypted.
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
