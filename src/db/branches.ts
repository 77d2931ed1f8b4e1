import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { Branch } from './entities/Branch.ts';

/** A branch as its address names it. */
export interface BranchKey {
  rut: string;
  branch: number;
}

/** The branch beside the first with this code, open or closed, or null. */
export function findBranch(em: EntityManager, key: BranchKey): Promise<Branch | null> {
  return em.findOne(Branch, { ...key });
}

/** The same, locked until the open transaction ends, so that nobody issues from it meanwhile. */
export function lockBranch(em: EntityManager, key: BranchKey): Promise<Branch | null> {
  return em.findOne(Branch, { ...key }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** The branches of an enterprise beside its first, by their codes. */
export function listBranches(em: EntityManager, rut: string): Promise<Branch[]> {
  return em.find(Branch, { rut }, { orderBy: { branch: 'asc' } });
}

/** What is told of a branch beside its code. */
export type BranchFacts = Pick<Branch, 'streetName' | 'localityName' | 'departmentName' | 'phoneNumber'>;

/**
 * Stores a branch, or opens a closed one again, which the open transaction has locked; answers it. Null when another has
 * stored one of that code since it was looked for.
 */
export async function openBranch(
  em: EntityManager,
  key: BranchKey,
  closed: Branch | null,
  facts: BranchFacts,
  now: Date,
): Promise<Branch | null> {
  if (closed) return em.assign(closed, { ...facts, closedAt: null });
  const rows = await em
    .createQueryBuilder(Branch)
    .insert({ ...key, ...facts, usedAt: null, closedAt: null, createdAt: now })
    .onConflict(['rut', 'branch'])
    .ignore()
    .returning('rut')
    .execute<{ rut: string }[]>('all', { mapResults: false });
  return rows.length === 0 ? null : findBranch(em, key);
}

/**
 * The open branch from which the open transaction issues a CFE, or null: it can be neither closed nor deleted before that
 * ends, and is marked as used from the first time on.
 */
export async function branchToIssueFrom(
  em: EntityManager,
  key: BranchKey,
  now: Date,
): Promise<Branch | null> {
  await em.nativeUpdate(Branch, { ...key, closedAt: null, usedAt: null }, { usedAt: now });
  return em.findOne(Branch, { ...key, closedAt: null }, { lockMode: LockMode.PESSIMISTIC_READ });
}
