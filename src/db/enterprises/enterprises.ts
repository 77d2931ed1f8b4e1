import { createHash } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { type EnterpriseObject, enterpriseObject } from '../../domain/enterprises/enterpriseObject.ts';
import type { EnterpriseStatus, ReadyFacts } from '../../domain/enterprises/enterpriseStatus.ts';
import type { LogoType } from '../../domain/enterprises/logo.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Branch, Certificate, Enterprise, Logo } from '../entities/enterprises.ts';
import { Cae } from '../entities/numbers.ts';
import { listUiValues } from '../receipts/rates.ts';
import { givenConditions } from '../sql.ts';
import { findCurrentCertificate } from './certificates.ts';

/** Returns the enterprise with this RUT, or null. */
export function findEnterprise(em: EntityManager, rut: string): Promise<Enterprise | null> {
  return em.findOne(Enterprise, { rut });
}

/** Returns the enterprises with these RUTs, by RUT. */
export const findEnterprises = (em: EntityManager, ruts: readonly string[]): Promise<Enterprise[]> =>
  em.find(Enterprise, { rut: { $in: [...ruts] } }, { orderBy: { rut: 'asc' } });

/** Selects the enterprises that the account owns or has a role at, with `status` if given. */
interface EnterpriseFilter {
  accountId: string;
  /** RUTs of other accounts' enterprises at which the account has a role. */
  granted: readonly string[];
  status?: EnterpriseStatus | undefined;
}

const toWhere = ({ accountId, granted, status }: EnterpriseFilter) => ({
  $or: [{ ownerAccountId: accountId }, { rut: { $in: [...granted] } }],
  ...givenConditions({ status }),
});

/** Returns a page of an account's enterprises, by RUT. */
export function listEnterprisesOfAccount(
  em: EntityManager,
  filter: EnterpriseFilter,
  page: { skip: number; limit: number },
): Promise<Enterprise[]> {
  return em.find(Enterprise, toWhere(filter), {
    orderBy: { rut: 'asc' },
    offset: page.skip,
    limit: page.limit,
  });
}

/** Counts the enterprises on all pages. */
export function countEnterprisesOfAccount(em: EntityManager, filter: EnterpriseFilter): Promise<number> {
  return em.count(Enterprise, toWhere(filter));
}

/**
 * Returns the enterprise with this RUT, locked until the open transaction ends. Every change of an enterprise, its
 * certificates or its CAEs takes this lock first, so that changes follow one another.
 */
export function lockEnterprise(em: EntityManager, rut: string): Promise<Enterprise | null> {
  return em.findOne(Enterprise, { rut }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

export type NewEnterprise = Omit<Enterprise, symbol>;

/** Stores an enterprise and returns it; null if its RUT is already registered. */
export async function insertEnterprise(em: EntityManager, values: NewEnterprise): Promise<Enterprise | null> {
  const rows = await em
    .createQueryBuilder(Enterprise)
    .insert(values)
    .onConflict('rut')
    .ignore()
    .returning('rut')
    .execute<{ rut: string }[]>('all', { mapResults: false });
  return rows.length === 0 ? null : findEnterprise(em, values.rut);
}

/** Returns whether an account owns more than `most` enterprises without a certificate for production. */
export async function hasMoreUncertifiedThan(
  em: EntityManager,
  accountId: string,
  most: number,
): Promise<boolean> {
  const beyond = await em.execute<unknown[]>(
    `select 1 from enterprise where owner_account_id = ? and not exists (
       select from certificate where certificate.rut = enterprise.rut and environment = 'production')
     offset ? limit 1`,
    [accountId, most],
  );
  return beyond.length > 0;
}

/**
 * Returns the enterprise objects (docs/contract.md#enterprise, without the role) at `now`, in the order of
 * `enterprises`, as the open transaction sees them. Takes three queries for any number of enterprises.
 */
export async function buildEnterpriseObjects(
  em: EntityManager,
  enterprises: readonly Enterprise[],
  now: Date,
): Promise<EnterpriseObject[]> {
  const production = { rut: { $in: enterprises.map(({ rut }) => rut) }, environment: 'production' as const };
  const certificates = await em.find(Certificate, { ...production, replacedAt: null });
  const caes = await em.find(Cae, production, { orderBy: { createdAt: 'asc', id: 'asc' }, exclude: ['xml'] });
  const caesOf = Map.groupBy(caes, ({ rut }) => rut);
  const uiValues = await listUiValues(em);
  const certificateOf = new Map(certificates.map((certificate) => [certificate.rut, certificate]));
  return enterprises.map((enterprise) => {
    const { rut } = enterprise;
    const certificate = certificateOf.get(rut) ?? null;
    return enterpriseObject({ enterprise, certificate, caes: caesOf.get(rut) ?? [], uiValues }, now);
  });
}

/** Returns the enterprise object of one enterprise at `now`, as the open transaction sees it. */
export async function buildEnterpriseObject(
  em: EntityManager,
  enterprise: Enterprise,
  now: Date,
): Promise<EnterpriseObject> {
  const [object] = await buildEnterpriseObjects(em, [enterprise], now);
  if (!object) throw new Error('no object was built for the enterprise');
  return object;
}

/** Returns which conditions for READY hold at `now` (docs/contract.md#becoming-ready). */
export async function readReadyFacts(
  em: EntityManager,
  enterprise: Enterprise,
  now: Date,
): Promise<ReadyFacts> {
  const { rut, permissions, planId, scheduledReadyDate } = enterprise;
  const certificate = await findCurrentCertificate(em, rut, 'production');
  const caesInForce = await em.count(Cae, {
    rut,
    environment: 'production',
    expirationDate: { $gte: montevideoDate(now) },
  });
  return {
    prodPermission: permissions.includes('PROD'),
    validCertificate:
      certificate !== null &&
      !certificate.revokedAt &&
      certificate.notBefore <= now &&
      now <= certificate.notAfter,
    plan: planId !== null,
    okCae: caesInForce > 0,
    dateCome: scheduledReadyDate !== null && scheduledReadyDate <= now,
  };
}

/** The key of a branch, as in its URL. */
export interface BranchKey {
  rut: string;
  branch: number;
}

/** Returns the additional branch with this code, open or closed, or null. */
export function findBranch(em: EntityManager, key: BranchKey): Promise<Branch | null> {
  return em.findOne(Branch, { ...key });
}

/** Locks all branches of an enterprise until the open transaction ends. */
export async function lockBranchesOf(em: EntityManager, rut: string): Promise<void> {
  await em.find(Branch, { rut }, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { branch: 'asc' } });
}

/** Returns the additional branches of an enterprise, by code. */
export function findBranches(em: EntityManager, rut: string): Promise<Branch[]> {
  return em.find(Branch, { rut }, { orderBy: { branch: 'asc' } });
}

/** A branch; `isFirst`: the one in the enterprise's own row, which cannot be closed. */
export type ListedBranch = BranchFacts &
  Pick<Branch, 'branch'> & { readonly isFirst: boolean; readonly closedAt: Date | null };

/** Returns the branches of an enterprise by code, its first one on top, including closed ones. */
export async function listBranches(em: EntityManager, rut: string): Promise<ListedBranch[]> {
  const own = await findEnterprise(em, rut);
  type Row = BranchFacts & Pick<Branch, 'branch'> & { readonly closedAt?: Date | null };
  const rows: Row[] = [...(own ? [own] : []), ...(await findBranches(em, rut))];
  return rows.map((row) => ({
    branch: row.branch,
    streetName: row.streetName,
    localityName: row.localityName,
    departmentName: row.departmentName,
    phoneNumber: row.phoneNumber ?? null,
    closedAt: row.closedAt ?? null,
    isFirst: row === own,
  }));
}

/** The fields of a branch except its code. */
export type BranchFacts = Pick<Branch, 'streetName' | 'localityName' | 'departmentName' | 'phoneNumber'>;

/**
 * Stores a branch, or reopens a closed one that the open transaction has locked; returns it. Null if another request
 * has stored that code meanwhile.
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
 * Returns the open branch, or null, and marks it as used. It can be neither closed nor deleted before the open
 * transaction ends.
 */
export async function lockOpenBranch(em: EntityManager, key: BranchKey, now: Date): Promise<Branch | null> {
  await em.nativeUpdate(Branch, { ...key, closedAt: null, usedAt: null }, { usedAt: now });
  return em.findOne(Branch, { ...key, closedAt: null }, { lockMode: LockMode.PESSIMISTIC_READ });
}

/** Stores a picture unless it exists; returns its SHA-256 in hex, by which enterprises refer to it. */
export async function storeLogo(
  em: EntityManager,
  { bytes, mediaType }: { bytes: Uint8Array; mediaType: LogoType },
  now: Date,
): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await em
    .createQueryBuilder(Logo)
    .insert({ sha256, mediaType, bytes: Buffer.from(bytes), createdAt: now })
    .onConflict('sha256')
    .ignore()
    .execute();
  return sha256;
}
