import { X509Certificate } from 'node:crypto';
import { isValidAt } from './x509.ts';

/** The accepted certification authorities of enterprises; `any`: not checked. */
export type CertificateAuthorities = readonly X509Certificate[] | 'any';

/**
 * True when one of the authorities, valid at `at`, signed the certificate (DER). Accepts no intermediate certificates from
 * the file. False for malformed certificates.
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
      // Checks names, key identifiers and the authority's key usage.
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
