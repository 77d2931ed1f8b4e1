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

/**
 * The same, asked of rows that were found otherwise: of the few that wait, say. As a plain condition the database would rather begin
 * with whose they are, and look through everything that these have.
 */
export function visibleAmong(seen: Seen, rut: string): { sql: string; values: unknown[] } {
  const { sql, values } = visibleTo(seen, rut);
  return { sql: `coalesce(${sql}, false)`, values };
}
