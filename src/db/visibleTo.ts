/** Which enterprises somebody in the console sees: all, or those at which one of their accounts has a role. */

/** Accounts; null: everyone's, for operators. */
export type Seen = readonly string[] | null;

/** A condition on a RUT that lets through what is seen, with its parameters. */
export function visibleTo(seen: Seen, rut: string): { sql: string; values: unknown[] } {
  if (seen === null) return { sql: 'true', values: [] };
  const accounts = [...seen];
  return {
    sql: `${rut} in (
      select e.rut from enterprise e where e.owner_account_id = any (?::uuid[])
      union all select g.rut from enterprise_grant g where g.account_id = any (?::uuid[]))`,
    values: [`{${accounts.join(',')}}`, `{${accounts.join(',')}}`],
  };
}
