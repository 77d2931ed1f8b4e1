import { createHash } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { type EnterpriseObject, enterpriseObject } from '../domain/enterpriseObject.ts';
import type { EnterpriseStatus, ReadyFacts } from '../domain/enterpriseStatus.ts';
import type { LogoType } from '../domain/logo.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { findCurrentCertificate } from './certificates.ts';
import { Branch, Certificate, Enterprise, Logo } from './entities/enterprises.ts';
import { Cae } from './entities/numbers.ts';

/** The enterprise with this RUT, or null. */
export function findEnterprise(em: EntityManager, rut: string): Promise<Enterprise | null> {
  return em.findOne(Enterprise, { rut });
}

/** All enterprises, or those of that status if given, in the order of their RUTs. */
export function findEnterprises(
  em: EntityManager,
  { status }: { status?: EnterpriseStatus | undefined },
): Promise<Enterprise[]> {
  return em.find(Enterprise, status === undefined ? {} : { status }, { orderBy: { rut: 'asc' } });
}

/** Which enterprises to list: those that the account owns or has a role at, of that status if given. */
interface EnterpriseFilter {
  accountId: string;
  /** RUTs of the enterprises of others at which the account has a role. */
  granted: readonly string[];
  status?: EnterpriseStatus | undefined;
}

const asWhere = ({ accountId, granted, status }: EnterpriseFilter) => ({
  $or: [{ ownerAccountId: accountId }, { rut: { $in: [...granted] } }],
  ...(status === undefined ? {} : { status }),
});

/** A page of an account's enterprises, in the order of their RUTs. */
export function listEnterprisesOfAccount(
  em: EntityManager,
  filter: EnterpriseFilter,
  page: { skip: number; limit: number },
): Promise<Enterprise[]> {
  return em.find(Enterprise, asWhere(filter), {
    orderBy: { rut: 'asc' },
    offset: page.skip,
    limit: page.limit,
  });
}

/** How many enterprises there are on all pages. */
export function countEnterprisesOfAccount(em: EntityManager, filter: EnterpriseFilter): Promise<number> {
  return em.count(Enterprise, asWhere(filter));
}

/**
 * The enterprise with this RUT, locked until the open transaction ends: whoever changes it, its certificates or its CAEs takes this
 * lock first, so that changes of one enterprise follow one another.
 */
export function lockEnterprise(em: EntityManager, rut: string): Promise<Enterprise | null> {
  return em.findOne(Enterprise, { rut }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

export type NewEnterprise = Omit<Enterprise, symbol>;

/** Stores an enterprise and answers it; null when its RUT is already registered. */
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

/** Whether an account owns more enterprises than `most` that have no certificate of production. */
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
 * The enterprise objects (docs/contract.md#enterprise; without the role) of these enterprises at `now`, in their order,
 * as the open transaction sees them: two questions for however many there are.
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
  const certificateOf = new Map(certificates.map((certificate) => [certificate.rut, certificate]));
  return enterprises.map((enterprise) => {
    const { rut } = enterprise;
    const certificate = certificateOf.get(rut) ?? null;
    return enterpriseObject({ enterprise, certificate, caes: caesOf.get(rut) ?? [] }, now);
  });
}

/** The enterprise object of one enterprise at `now`, as the open transaction sees it. */
export async function buildEnterpriseObject(
  em: EntityManager,
  enterprise: Enterprise,
  now: Date,
): Promise<EnterpriseObject> {
  const [object] = await buildEnterpriseObjects(em, [enterprise], now);
  if (!object) throw new Error('one enterprise gave no object');
  return object;
}

/** Which of the facts hold at `now` that together make an enterprise READY (docs/contract.md#becoming-ready). */
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
    validCertificate: certificate !== null && certificate.notBefore <= now && now <= certificate.notAfter,
    plan: planId !== null,
    okCae: caesInForce > 0,
    dateCome: scheduledReadyDate !== null && scheduledReadyDate <= now,
  };
}

/** A branch as its address names it. */
export interface BranchKey {
  rut: string;
  branch: number;
}

/** The branch beside the first with this code, open or closed, or null. */
export function findBranch(em: EntityManager, key: BranchKey): Promise<Branch | null> {
  return em.findOne(Branch, { ...key });
}

/** Locks all of an enterprise until the open transaction ends. */
export async function lockBranchesOf(em: EntityManager, rut: string): Promise<void> {
  await em.find(Branch, { rut }, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { branch: 'asc' } });
}

/** The branches of an enterprise beside its first, by their codes. */
export function findBranches(em: EntityManager, rut: string): Promise<Branch[]> {
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
export async function lockOpenBranch(em: EntityManager, key: BranchKey, now: Date): Promise<Branch | null> {
  await em.nativeUpdate(Branch, { ...key, closedAt: null, usedAt: null }, { usedAt: now });
  return em.findOne(Branch, { ...key, closedAt: null }, { lockMode: LockMode.PESSIMISTIC_READ });
}

/** Stores a picture unless it is there already, and answers its SHA-256 in hex, by which enterprises name it. */
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
