/** Which accounts see an enterprise, and may act for it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { Actor } from '../../domain/operations/audit.ts';
import type { MemberRole } from '../../domain/people/people.ts';
import { EnterpriseGrant } from '../entities/enterprises.ts';
import { type Fragment, givenConditions } from '../sql.ts';

/** The accounts of a reader; null for operators, who see all. */
export type ViewerAccounts = readonly string[] | null;

/** The condition of `em.find` on rows of these accounts. */
export const ofAccounts = (accounts: ViewerAccounts) =>
  accounts === null ? {} : { accountId: { $in: [...accounts] } };

/** SQL: the enterprise is visible to these accounts. `rut`: the column with its RUT. */
export function visibleTo(accounts: ViewerAccounts, rut: string): Fragment {
  if (accounts === null) return sql`true`;
  return sql`${sql.ref(rut)} in (
    select e.rut from enterprise e where e.owner_account_id = any (${accounts}::uuid[])
    union all select g.rut from enterprise_grant g where g.account_id = any (${accounts}::uuid[]))`;
}

/**
 * The same condition for few rows that another index finds. `coalesce` stops PostgreSQL from starting with the
 * enterprises and reading all their rows.
 */
export const visibleAmong = (accounts: ViewerAccounts, rut: string): Fragment =>
  sql`coalesce(${visibleTo(accounts, rut)}, false)`;

/**
 * Returns the role of each of these accounts at an enterprise (docs/contract.md#roles): OWNER, or the granted one.
 * Leaves out accounts without a role.
 */
export async function listRolesAt(
  em: EntityManager,
  accountIds: readonly string[],
  rut: string,
): Promise<ReadonlyMap<string, MemberRole>> {
  const accounts = `{${accountIds.join(',')}}`;
  const rows = await em.execute<{ account_id: string; role: MemberRole }[]>(
    `select account_id, role from enterprise_grant where rut = ? and account_id = any (?::uuid[])
     union all
     select owner_account_id, 'OWNER' from enterprise where rut = ? and owner_account_id = any (?::uuid[])`,
    [rut, accounts, rut, accounts],
  );
  const granted = rows.filter(({ role }) => role !== 'OWNER');
  const owning = rows.filter(({ role }) => role === 'OWNER');
  return new Map([...granted, ...owning].map(({ account_id, role }) => [account_id, role]));
}

/** Removes the role of an account at an enterprise; returns whether it had one. */
export async function deleteGrant(
  em: EntityManager,
  grantee: { accountId: string; rut: string },
): Promise<boolean> {
  return (await em.nativeDelete(EnterpriseGrant, { ...grantee })) > 0;
}

/** Returns granted roles: all, those of an account, or those at an enterprise. */
export function listGrants(
  em: EntityManager,
  { accountId, rut }: { accountId?: string | undefined; rut?: string | undefined } = {},
): Promise<EnterpriseGrant[]> {
  return em.find(EnterpriseGrant, givenConditions({ accountId, rut }), {
    orderBy: { rut: 'asc', accountId: 'asc' },
  });
}

/**
 * Returns whether an actor may still act for an enterprise, which may have been transferred since the request; it
 * stays unchanged until the open transaction ends. True for operators and the service itself.
 */
export async function stillMayAct(em: EntityManager, actor: Actor, rut: string): Promise<boolean> {
  const [kind, who] = [actor.slice(0, actor.indexOf(':')), actor.slice(actor.indexOf(':') + 1)];
  if (kind !== 'account' && kind !== 'console') return true;
  await em.execute('select 1 from enterprise where rut = ? for key share', [rut]);
  const accounts =
    kind === 'account'
      ? 'select ?::uuid as id'
      : 'select account_id as id from membership join person on person.id = person_id where email = ?';
  // Only the console may read people.
  const operator =
    kind === 'console' ? 'union all select 1 from person where operator_role is not null and email = ?' : '';
  const rows = await em.execute<unknown[]>(
    `with mine as (${accounts})
     select 1 from enterprise where rut = ? and owner_account_id in (select id from mine)
     union all select 1 from enterprise_grant where rut = ? and role <> 'VIEWER' and account_id in (select id from mine)
     ${operator}`,
    [who, rut, rut, ...(kind === 'console' ? [who] : [])],
  );
  return rows.length > 0;
}
