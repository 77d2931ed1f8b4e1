import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { Certificate } from '../entities/enterprises.ts';

/** The results of the daily check of a certificate. */
export type Checks = Pick<Certificate, 'checkedAt' | 'untrustedAt' | 'revokedAt'>;

const WITH_KEY = { populate: ['sealedKey'] } as const;

/** Returns the enterprise's current certificate, without its key; null before the first upload. */
export function findCurrentCertificate(
  em: EntityManager,
  rut: string,
  environment: Environment,
): Promise<Certificate | null> {
  return em.findOne(Certificate, { rut, environment, replacedAt: null });
}

/** Returns the current certificate with its sealed key, which only worker and command line may read. */
export function findCurrentSigner(
  em: EntityManager,
  rut: string,
  environment: Environment,
): Promise<Certificate | null> {
  return em.findOne(Certificate, { rut, environment, replacedAt: null }, WITH_KEY);
}

/** Returns the certificate with this id, replaced or not, with its sealed key. */
export const requireSigner = (em: EntityManager, id: string): Promise<Certificate> =>
  em.findOneOrFail(Certificate, { id }, WITH_KEY);

/**
 * Stores a certificate in place of the current one, which remains for the record. The caller holds the enterprise's
 * lock.
 */
export async function replaceCertificate(
  em: EntityManager,
  values: Omit<Certificate, symbol | 'replacedAt' | keyof Checks | 'intermediates'> & {
    readonly intermediates?: string;
  },
): Promise<Certificate> {
  const { rut, environment, createdAt } = values;
  await em.nativeUpdate(Certificate, { rut, environment, replacedAt: null }, { replacedAt: createdAt });
  const certificate = em.create(Certificate, { ...values, replacedAt: null });
  await em.flush();
  return certificate;
}

/** Returns at most `limit` current certificates of production that were not looked up since `before`, by id, after `after`. */
export const listUncheckedCertificates = (
  em: EntityManager,
  { before, after, limit }: { before: Date; after: string; limit: number },
): Promise<Certificate[]> =>
  em.find(
    Certificate,
    {
      environment: 'production',
      replacedAt: null,
      id: { $gt: after },
      $or: [{ checkedAt: null }, { checkedAt: { $lt: before } }],
    },
    { orderBy: { id: 'asc' }, limit },
  );

/** Stores the results of a check of a certificate. */
export async function storeChecks(em: EntityManager, id: string, checks: Checks): Promise<void> {
  Object.assign(await em.findOneOrFail(Certificate, { id }), checks);
  await em.flush();
}

/** Returns whether this certificate of an enterprise was found revoked before. */
export async function wasRevoked(
  em: EntityManager,
  { certificate, ...owner }: Pick<Certificate, 'rut' | 'environment' | 'certificate'>,
): Promise<boolean> {
  return (await em.count(Certificate, { ...owner, certificate, revokedAt: { $ne: null } })) > 0;
}
