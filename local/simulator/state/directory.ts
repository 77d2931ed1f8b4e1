import type { State } from './database.ts';

/** What the authority's list of electronic issuers tells of a RUC; days are `YYYY-MM-DD`. */
export interface Issuer {
  readonly rut: string;
  readonly name: string;
  readonly mail: string;
  readonly since: string;
  readonly until: string | null;
}

/** Puts what the list tells of a RUC, in place of what it told before, as changed at that moment (ISO 8601). */
export const putIssuer = (
  state: State,
  { rut, name, mail, since, until }: Issuer,
  changedAt: string,
): void => {
  state
    .prepare(
      `insert into directory values (?, ?, ?, ?, ?, ?) on conflict do update set
       name = excluded.name, mail = excluded.mail, since = excluded.since, until = excluded.until,
       changed_at = excluded.changed_at`,
    )
    .run(rut, name, mail, since, until, changedAt);
};

/** The issuers that came or changed since a moment (ISO 8601); of that RUC and with that in their name, where told. */
export const listIssuers = (
  state: State,
  { rut, name, since }: { rut: string; name: string; since: string },
): Issuer[] =>
  state
    .prepare(
      `select rut, name, mail, since, until from directory
       where changed_at >= ? and (? = '' or rut = ?) and instr(upper(name), upper(?)) > 0 order by rut`,
    )
    .all(since, rut, rut, name)
    .map((row) => ({ ...row })) as unknown as Issuer[];
