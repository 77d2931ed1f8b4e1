import type { EntityManager } from '@mikro-orm/postgresql';
import type { MemberRole } from '../domain/people.ts';

/**
 * What each of these accounts is at an enterprise (docs/contract.md#roles): OWNER whose it is, else what an operator granted.
 * Those that have no role there are left out.
 */
export async function rolesAt(
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
