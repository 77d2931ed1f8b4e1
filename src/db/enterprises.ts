import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { EnterpriseStatus } from '../domain/enterpriseStatus.ts';
import { Enterprise } from './entities/Enterprise.ts';

/** The enterprise with this RUT, or null. */
export function findEnterprise(em: EntityManager, rut: string): Promise<Enterprise | null> {
  return em.findOne(Enterprise, { rut });
}

/** All enterprises, or those of that status if given, in the order of their RUTs. */
export function listEnterprises(
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
export function enterprisesOf(
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
export function countEnterprisesOf(em: EntityManager, filter: EnterpriseFilter): Promise<number> {
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
