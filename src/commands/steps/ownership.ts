import type { EntityManager } from '@mikro-orm/postgresql';
import { type CertificateAuthorities, isCertified } from '../../crypto/certificateAuthorities.ts';
import { findCurrentCertificate } from '../../db/certificates.ts';
import type { CommandDeps } from './deps.ts';

/** What it takes to tell whether a RUT is its owner's. */
export interface OwnershipDeps extends CommandDeps {
  /** Whose certificate proves who owns the RUT. */
  readonly certificateAuthorities: CertificateAuthorities;
}

/** Whether the enterprise has a certificate of an authority that counts; one that has expired since proves it as well. */
export async function isOwnerProven(
  em: EntityManager,
  rut: string,
  { certificateAuthorities }: Pick<OwnershipDeps, 'certificateAuthorities'>,
): Promise<boolean> {
  const certificate = await findCurrentCertificate(em, rut, 'production');
  return (
    certificate !== null &&
    isCertified(certificate.certificate, certificateAuthorities, certificate.createdAt)
  );
}
