import { X509Certificate } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { rucOf } from '../crypto/x509.ts';
import { ENVIRONMENTS, type Environment } from '../domain/cfeTypes.ts';
import { AuthorityCertificate } from './entities/AuthorityCertificate.ts';

/** The authority's own RUT in each environment. */
export type AuthorityRuts = Readonly<Record<Environment, string>>;

/** Every certificate whose signature counts as the authority's, the newest first. */
export function listAuthorityCertificates(em: EntityManager): Promise<AuthorityCertificate[]> {
  return em.find(AuthorityCertificate, {}, { orderBy: { notBefore: 'desc', fingerprint: 'asc' } });
}

/**
 * The environment in which a certificate's signatures count: the one it was added for, else the one whose authority has
 * the RUT of its subject. Undefined where that is neither's, or both have the same.
 */
export function environmentOf(
  { environment, certificate }: Pick<AuthorityCertificate, 'environment' | 'certificate'>,
  ruts: AuthorityRuts,
): Environment | undefined {
  if (environment) return environment;
  const ruc = rucOf(new X509Certificate(certificate));
  const [told, ...more] = ENVIRONMENTS.filter((one) => ruts[one] === ruc);
  return more.length === 0 ? told : undefined;
}

/** SHA-256 (hex, lower case) of the certificates whose signatures count as the authority's in an environment. */
export async function trustedSigners(
  em: EntityManager,
  environment: Environment,
  ruts: AuthorityRuts,
): Promise<ReadonlySet<string>> {
  const rows = await listAuthorityCertificates(em);
  return new Set(
    rows.filter((row) => environmentOf(row, ruts) === environment).map(({ fingerprint }) => fingerprint),
  );
}

/** The stored certificates among those with these SHA-256. */
export function findAuthorityCertificates(
  em: EntityManager,
  fingerprints: readonly string[],
): Promise<AuthorityCertificate[]> {
  return em.find(AuthorityCertificate, { fingerprint: { $in: [...fingerprints] } }, { refresh: true });
}

/** Stores certificates; of those that are there already only the environment changes, where the rows name one. */
export async function addAuthorityCertificates(
  em: EntityManager,
  rows: readonly Omit<AuthorityCertificate, symbol>[],
): Promise<void> {
  if (rows.length === 0) return;
  const named = rows.every(({ environment }) => environment !== null);
  await em.upsertMany(AuthorityCertificate, [...rows], {
    onConflictFields: ['fingerprint'],
    ...(named
      ? { onConflictAction: 'merge' as const, onConflictMergeFields: ['environment' as const] }
      : { onConflictAction: 'ignore' as const }),
  });
}
