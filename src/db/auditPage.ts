/** What the console's audit page reads: who did what, with the names of what is behind the ids. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Actor, actorsOf } from '../domain/audit.ts';
import { parseCfeId } from '../domain/cfeId.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import { milliseconds } from './clock.ts';

/** Which entries: every condition that is given must hold. */
export interface AuditSearch {
  /** As they are named where they acted: an e-mail address, or a user of the command line. */
  readonly person?: string | undefined;
  readonly rut?: string | undefined;
  readonly accountId?: string | undefined;
  /** Id of the thing that was changed; with a RUT also the cfe_id of a CFE. */
  readonly subject?: string | undefined;
  readonly action?: string | undefined;
  readonly from?: Date | undefined;
  readonly before?: Date | undefined;
}

export interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly actor: Actor;
  /** The name of the account behind the actor, where it is one. */
  readonly actorName: string | null;
  readonly action: string;
  readonly subject: string;
  readonly address: string | null;
  readonly accountId: string | null;
  readonly accountName: string | null;
  readonly rut: string | null;
  readonly legalName: string | null;
  readonly reason: string | null;
  readonly outcome: string | null;
  /** The CFE that the act was about. */
  readonly cfe: {
    readonly environment: Environment;
    readonly type: CfeType;
    readonly sequence: number;
  } | null;
}

const UUID = `'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`;

/** Entries of the audit, newest first: `limit` of them at most, those behind the one with the id `after`. */
export async function auditPage(
  em: EntityManager,
  search: AuditSearch,
  { after, limit }: { after: string | null; limit: number },
): Promise<AuditRow[]> {
  const conditions = [
    ...conditionsOf(search),
    ...(after === null ? [] : [{ sql: 'id < ?::bigint', value: after }]),
  ];
  interface Row extends Omit<AuditRow, 'at' | 'cfe'> {
    at: number;
    environment: Environment | null;
    type: CfeType;
    sequence: number;
  }
  const rows = await em.execute<Row[]>(
    `select a.id::text as id, ${milliseconds('a.at')} as at, actor, who.name as "actorName", action, subject, address,
       a.account_id as "accountId", account.name as "accountName", a.rut, e.legal_name as "legalName", reason, outcome,
       cfe.environment, cfe.type, cfe.sequence
     from (select * from audit where ${conditions.map(({ sql }) => sql).join(' and ') || 'true'} order by id desc limit ?) a
     left join account on account.id = a.account_id
     left join account who on who.id = case when actor ~ ('^account:' || substr(${UUID}, 2)) then substr(actor, 9)::uuid end
     left join enterprise e on e.rut = a.rut
     left join cfe on cfe.id = case when action like 'cfe.%' and subject ~ ${UUID} then subject::uuid end
     order by a.id desc`,
    [...conditions.flatMap(({ value }) => value), limit],
  );
  return rows.map(({ at, environment, type, sequence, ...row }) => ({
    ...row,
    at: new Date(at),
    cfe: environment && { environment, type, sequence },
  }));
}

function conditionsOf(search: AuditSearch): { sql: string; value: unknown }[] {
  const { person, rut, accountId, subject, action, from, before } = search;
  const cfe = subject !== undefined && rut !== undefined ? parseCfeId(subject) : undefined;
  const all = [
    person !== undefined && { sql: 'actor in (?)', value: [actorsOf(person)] },
    rut !== undefined && { sql: 'rut = ?', value: rut },
    accountId !== undefined && { sql: 'account_id = ?::uuid', value: accountId },
    cfe
      ? {
          sql: 'subject in (select id::text from cfe where cfe.rut = ? and type = ? and sequence = ?)',
          value: [rut, cfe.type, cfe.sequence],
        }
      : subject !== undefined && { sql: 'subject = ?', value: subject },
    action !== undefined && { sql: 'action = ?', value: action },
    from !== undefined && { sql: 'at >= ?::timestamptz', value: from.toISOString() },
    before !== undefined && { sql: 'at < ?::timestamptz', value: before.toISOString() },
  ];
  return all.filter((one) => one !== false);
}
