import { X509Certificate } from 'node:crypto';
import type { Issued } from './revocation.ts';
import { isValidAt } from './x509.ts';

/** The accepted certification authorities of enterprises; `any`: not checked. */
export type CertificateAuthorities = readonly X509Certificate[] | 'any';

/** Certificates between that of an enterprise and an authority's. */
export const MOST_INTERMEDIATES = 4;

/** True when `issuer`, valid at `at`, signed the certificate. Checks names, key identifiers and the key usage, too. */
const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate, at: Date): boolean =>
  isValidAt(issuer, at) && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

/**
 * Returns the chain from this certificate (DER) to an accepted authority, as pairs of certificate and issuer; null without
 * one, or for malformed certificates. `intermediates`: its issuers in order, the nearest first; each must be a CA
 * certificate that is valid at `at`.
 */
export function certifiedChain(
  certificateDer: Uint8Array,
  intermediates: readonly Uint8Array[],
  { authorities, at }: { authorities: readonly X509Certificate[]; at: Date },
): Issued[] | null {
  const chain: Issued[] = [];
  let certificate = readCertificate(certificateDer);
  const issuers = intermediates.slice(0, MOST_INTERMEDIATES).map(readCertificate);
  while (certificate) {
    const current: X509Certificate = certificate;
    const authority = authorities.find((one) => isIssuedBy(current, one, at));
    if (authority) return [...chain, { certificate: current.raw, issuer: authority.raw }];
    const issuer = issuers.shift();
    if (!issuer?.ca || !isIssuedBy(current, issuer, at)) return null;
    chain.push({ certificate: current.raw, issuer: issuer.raw });
    certificate = issuer;
  }
  return null;
}

/** True if `certifiedChain` finds a chain, or none is required. */
export const isCertified = (
  certificateDer: Uint8Array,
  authorities: CertificateAuthorities,
  at: Date,
  intermediates: readonly Uint8Array[] = [],
): boolean =>
  authorities === 'any' || certifiedChain(certificateDer, intermediates, { authorities, at }) !== null;

function readCertificate(der: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}
