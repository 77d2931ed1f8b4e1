import type { EntityManager } from '@mikro-orm/postgresql';
import { type CertificateAuthorities, isCertified } from '../../crypto/certificateAuthorities.ts';
import { readPemCertificates } from '../../crypto/x509.ts';
import { findCurrentCertificate } from '../../db/enterprises/certificates.ts';
import type { CommandDeps } from './deps.ts';

export interface OwnershipDeps extends CommandDeps {
  /** Certificates of these authorities prove ownership of a RUT. */
  readonly certificateAuthorities: CertificateAuthorities;
}

/** Whether a recognized certificate, even an expired one, proves who owns the enterprise. */
export async function isOwnerProven(
  em: EntityManager,
  rut: string,
  { certificateAuthorities }: Pick<OwnershipDeps, 'certificateAuthorities'>,
): Promise<boolean> {
  const certificate = await findCurrentCertificate(em, rut, 'production');
  return (
    certificate !== null &&
    isCertified(
      certificate.certificate,
      certificateAuthorities,
      certificate.createdAt,
      readPemCertificates(certificate.intermediates),
    )
  );
}
