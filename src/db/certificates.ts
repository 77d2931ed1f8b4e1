import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { Certificate } from './entities/Certificate.ts';

/** The certificate that signs for the enterprise now: the one last uploaded; null before the first. */
export function currentCertificate(
  em: EntityManager,
  rut: string,
  environment: Environment,
): Promise<Certificate | null> {
  return em.findOne(Certificate, { rut, environment, replacedAt: null });
}

/**
 * Stores a certificate in place of the current one, which stays for the record. The caller holds the enterprise's
 * lock.
 */
export async function replaceCertificate(
  em: EntityManager,
  values: Omit<Certificate, symbol | 'replacedAt'>,
): Promise<Certificate> {
  const { rut, environment, createdAt } = values;
  await em.nativeUpdate(Certificate, { rut, environment, replacedAt: null }, { replacedAt: createdAt });
  const certificate = em.create(Certificate, { ...values, replacedAt: null });
  await em.flush();
  return certificate;
}
