import { X509Certificate } from 'node:crypto';
import type { Issued } from './revocation.ts';
import { isValidAt } from './x509.ts';

/** The certification authorities accepted for enterprises; `any`: every one. */
export type CertificateAuthorities = readonly X509Certificate[] | 'any';

/** Longest chain of certificates between an enterprise's and an authority's. */
export const MOST_INTERMEDIATES = 4;

/** True when `issuer`, valid at `at`, signed the certificate. Checks names, key identifiers and the key usage, too. */
const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate, at: Date): boolean =>
  isValidAt(issuer, at) && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

/**
 * Returns the chain from a certificate (DER) to an accepted authority, as pairs of certificate and issuer; null without a
 * chain. `intermediates`: the issuers, the nearest first; each must be a CA certificate that is valid at `at`.
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

/** True if `certifiedChain` finds a chain, or any authority is accepted. */
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
