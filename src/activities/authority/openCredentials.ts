import type { KeyObject } from 'node:crypto';
import { UnsealError } from '../../crypto/sealed.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import type { DgiCredentials } from '../../dgi/wsSecurity.ts';
import { authorityRefuses } from './attempt.ts';

/** Returns private key and certificate; null if the key cannot be decrypted. */
export function tryOpenCredentials(
  privateKeyOf: (certificate: Certificate) => KeyObject,
  certificate: Certificate,
): DgiCredentials | null {
  try {
    return { privateKey: privateKeyOf(certificate), certificateDer: certificate.certificate };
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    return null;
  }
}

/** Returns the credentials for a query that delays no CFE. Throws a failure that is retried hourly if the key cannot be decrypted. */
export function openCredentials(
  privateKeyOf: (certificate: Certificate) => KeyObject,
  certificate: Certificate,
): DgiCredentials {
  const credentials = tryOpenCredentials(privateKeyOf, certificate);
  if (!credentials) throw authorityRefuses('the key of the certificate cannot be opened');
  return credentials;
}
