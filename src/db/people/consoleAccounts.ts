/** Queries of the console's account pages. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { EnterpriseStatus } from '../../domain/enterprises/enterpriseStatus.ts';
import type { MemberRole } from '../../domain/people/people.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import type { ListPage } from '../page.ts';
import { containsPattern, runSql, whereAll } from '../sql.ts';

export interface ListedAccount {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly isDeveloper: boolean;
  readonly createdAt: Date;
  /** Enterprises that it owns. */
  readonly enterprises: number;
  readonly members: number;
}

/** Returns a page of accounts by name. `text`: part of a name, an address or an id. */
export async function listAccountsPage(
  em: EntityManager,
  { text }: { text?: string | undefined },
  { after, limit }: ListPage,
): Promise<ListedAccount[]> {
  const condition = whereAll(
    text !== undefined &&
      sql`a.name ilike ${containsPattern(text)} or a.email ilike ${containsPattern(text)} or a.id::text = lower(${text})`,
    after && sql`(a.name, a.id) > (${after[0]}, ${after[1]})`,
  );
  const rows = await runSql(em)<Omit<ListedAccount, 'createdAt'> & { created: string }>`
    select a.id, a.name, a.email, a.is_developer as "isDeveloper", a.created_at as created,
      (select count(*)::int from enterprise e where e.owner_account_id = a.id) as enterprises,
      (select count(*)::int from membership m where m.account_id = a.id) as members
    from account a where ${condition} order by a.name, a.id limit ${limit}`;
  return rows.map(({ created, ...row }) => ({ ...row, createdAt: new Date(created) }));
}

export interface EnterpriseRole {
  readonly accountId: string;
  readonly rut: string;
  readonly legalName: string;
  readonly status: EnterpriseStatus;
  readonly role: MemberRole;
}

/** Returns the enterprises at which an account has a role, by RUT. */
export function listEnterpriseRoles(
  em: EntityManager,
  accountId: string,
  { after, limit }: ListPage,
): Promise<EnterpriseRole[]> {
  return em.execute<EnterpriseRole[]>(
    `select ?::text as "accountId", e.rut, e.legal_name as "legalName", e.status, held.role from (
       select rut, 'OWNER' as role from enterprise where owner_account_id = ?
       union all
       select g.rut, g.role from enterprise_grant g join enterprise e on e.rut = g.rut
       where g.account_id = ? and e.owner_account_id <> ?
     ) held join enterprise e on e.rut = held.rut
     where held.rut > ? order by held.rut limit ?`,
    [accountId, accountId, accountId, accountId, after?.[0] ?? '', limit],
  );
}

/** Returns the rate limits that operators set for an account, by environment. */
export async function listRateLimits(
  em: EntityManager,
  accountId: string,
): Promise<ReadonlyMap<Environment, number>> {
  const rows = await em.execute<{ environment: Environment; per_hour: number }[]>(
    'select environment, per_hour from rate_limit where account_id = ?',
    [accountId],
  );
  return new Map(rows.map(({ environment, per_hour }) => [environment, per_hour]));
}
