import type { EntityManager } from '@mikro-orm/postgresql';
import { AuthorityCertificate } from './entities/AuthorityCertificate.ts';

/** Every certificate whose signature counts as the authority's, the newest first. */
export function listAuthorityCertificates(em: EntityManager): Promise<AuthorityCertificate[]> {
  return em.find(AuthorityCertificate, {}, { orderBy: { notBefore: 'desc', fingerprint: 'asc' } });
}

/** Whether signatures by the certificate of that SHA-256 (hex, lower case) count as the authority's. */
export async function isTrustedSigner(em: EntityManager, fingerprint: string): Promise<boolean> {
  return (await em.count(AuthorityCertificate, { fingerprint })) > 0;
}

/** Stores the certificates that are not there yet. Answers nothing: adding one again changes nothing. */
export async function addAuthorityCertificates(
  em: EntityManager,
  rows: readonly Omit<AuthorityCertificate, symbol>[],
): Promise<void> {
  if (rows.length === 0) return;
  await em.upsertMany(AuthorityCertificate, [...rows], {
    onConflictFields: ['fingerprint'],
    onConflictAction: 'ignore',
  });
}
