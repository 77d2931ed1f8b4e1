import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { AuthorityCertificate } from './entities/authority.ts';

/** Every certificate whose signature counts as the authority's, the newest first. */
export function listAuthorityCertificates(em: EntityManager): Promise<AuthorityCertificate[]> {
  return em.find(AuthorityCertificate, {}, { orderBy: { notBefore: 'desc', fingerprint: 'asc' } });
}

/** SHA-256 (hex, lower case) of the certificates whose signatures count as the authority's in an environment. */
export async function trustedSigners(
  em: EntityManager,
  environment: Environment,
): Promise<ReadonlySet<string>> {
  const rows = await em.find(AuthorityCertificate, { environment });
  return new Set(rows.map(({ fingerprint }) => fingerprint));
}

/** The stored certificates among those with these SHA-256. */
export function findAuthorityCertificates(
  em: EntityManager,
  fingerprints: readonly string[],
): Promise<AuthorityCertificate[]> {
  return em.find(AuthorityCertificate, { fingerprint: { $in: [...fingerprints] } }, { refresh: true });
}

/** Stores certificates; one that is there already stays as it is, or moves to the environment that is `named`. */
export async function upsertAuthorityCertificates(
  em: EntityManager,
  rows: readonly Omit<AuthorityCertificate, symbol>[],
  { named }: { named: boolean },
): Promise<void> {
  if (rows.length === 0) return;
  await em.upsertMany(AuthorityCertificate, [...rows], {
    onConflictFields: ['fingerprint'],
    ...(named
      ? { onConflictAction: 'merge' as const, onConflictMergeFields: ['environment' as const] }
      : { onConflictAction: 'ignore' as const }),
  });
}
