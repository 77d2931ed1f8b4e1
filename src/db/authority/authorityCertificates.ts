import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { AuthorityCertificate } from '../entities/authority.ts';

/** Returns every certificate of the authority that we trust, newest first. */
export function listAuthorityCertificates(em: EntityManager): Promise<AuthorityCertificate[]> {
  return em.find(AuthorityCertificate, {}, { orderBy: { notBefore: 'desc', fingerprint: 'asc' } });
}

/** Returns the SHA-256 (lower-case hex) of the certificates of the authority that are trusted in an environment. */
export async function trustedSigners(
  em: EntityManager,
  environment: Environment,
): Promise<ReadonlySet<string>> {
  const rows = await em.find(AuthorityCertificate, { environment });
  return new Set(rows.map(({ fingerprint }) => fingerprint));
}

/** Returns the stored certificates with these SHA-256. */
export function findAuthorityCertificates(
  em: EntityManager,
  fingerprints: readonly string[],
): Promise<AuthorityCertificate[]> {
  return em.find(AuthorityCertificate, { fingerprint: { $in: [...fingerprints] } }, { refresh: true });
}

/**
 * Stores certificates. `named`: an existing certificate moves to the given environment; otherwise it stays unchanged.
 */
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
