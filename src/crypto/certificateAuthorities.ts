import { X509Certificate } from 'node:crypto';
import { isValidAt } from './x509.ts';

/** The certification authorities that may certify an enterprise; `any`: nobody looks at who did. */
export type CertificateAuthorities = readonly X509Certificate[] | 'any';

/**
 * Whether one of the authorities, valid at `at`, signed the certificate (DER). They are all that counts: no certificate
 * that came with it may stand between. False for what is no certificate.
 */
export function isCertified(
  certificateDer: Uint8Array,
  authorities: CertificateAuthorities,
  at: Date,
): boolean {
  if (authorities === 'any') return true;
  const certificate = readCertificate(certificateDer);
  if (!certificate) return false;
  return authorities.some(
    (authority) =>
      isValidAt(authority, at) &&
      // Names, key identifiers, and that the key usage of the authority allows it to sign certificates.
      certificate.checkIssued(authority) &&
      certificate.verify(authority.publicKey),
  );
}

function readCertificate(der: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}
