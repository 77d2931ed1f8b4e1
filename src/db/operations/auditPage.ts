/** The list of the audit: acts, with the names behind the ids. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { type Actor, actorsOf } from '../../domain/operations/audit.ts';
import { parseCfeId } from '../../domain/receipts/cfeId.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import type { ListPage } from '../page.ts';
import { conditionBuilder, type Fragment, runSql, whereAll } from '../sql.ts';

/** Selects entries; all given conditions must hold. */
export interface AuditSearch {
  /** An e-mail address, or a user of the command line. */
  readonly person?: string | undefined;
  readonly rut?: string | undefined;
  readonly accountId?: string | undefined;
  /** Id of the changed row; with a RUT also the cfe_id of a CFE. */
  readonly subject?: string | undefined;
  readonly action?: string | undefined;
  readonly from?: Date | undefined;
  readonly before?: Date | undefined;
}

export interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly actor: Actor;
  /** The name of the account, if the actor is one. */
  readonly actorName: string | null;
  readonly action: string;
  readonly subject: string;
  readonly address: string | null;
  readonly keyId: string | null;
  readonly accountId: string | null;
  readonly accountName: string | null;
  readonly rut: string | null;
  readonly legalName: string | null;
  readonly reason: string | null;
  readonly outcome: string | null;
  /** For acts of support: the id of the request. */
  readonly requestId: string | null;
  /** The CFE, if the act was about one. */
  readonly cfe: {
    readonly environment: Environment;
    readonly type: CfeType;
    readonly sequence: number;
  } | null;
}

const UUID = sql.lit('^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');

interface Row extends Omit<AuditRow, 'at' | 'cfe'> {
  readonly at: string;
  readonly environment: Environment | null;
  readonly type: CfeType;
  readonly sequence: number;
}

/** Returns a page of entries, newest first. */
export async function listAuditPage(
  em: EntityManager,
  search: AuditSearch,
  { after, limit }: ListPage,
): Promise<AuditRow[]> {
  const rows = await runSql(em)<Row>`
    select a.id::text as id, a.at, actor, who.name as "actorName", action, subject, address,
      a.key_id as "keyId", a.account_id as "accountId", account.name as "accountName", a.rut, e.legal_name as "legalName", reason, outcome,
      a.request_id as "requestId", cfe.environment, cfe.type, cfe.sequence
    from (select * from audit where ${whereAll(filterCondition(search), after && sql`id < ${after[0]}`)}
      order by id desc limit ${limit}) a
    left join account on account.id = a.account_id
    left join account who on who.id = case when actor ~ ('^account:' || substr(${UUID}, 2)) then substr(actor, 9)::uuid end
    left join enterprise e on e.rut = a.rut
    left join cfe on cfe.id = case when action like 'cfe.%' and subject ~ ${UUID} then subject::uuid end
    order by a.id desc`;
  return rows.map(({ at, environment, type, sequence, ...row }) => ({
    ...row,
    at: new Date(at),
    cfe: environment && { environment, type, sequence },
  }));
}

const audit = conditionBuilder<'audit'>();

function filterCondition({ person, rut, accountId, subject, action, from, before }: AuditSearch): Fragment {
  const cfe = subject !== undefined && rut !== undefined ? parseCfeId(subject) : undefined;
  return whereAll(
    audit.and({ rut, account_id: accountId, action, subject: cfe ? undefined : subject }),
    person !== undefined && audit('actor', 'in', actorsOf(person)),
    cfe &&
      sql`subject in (select id::text from cfe
        where cfe.rut = ${rut} and type = ${cfe.type} and sequence = ${cfe.sequence})`,
    from && audit('at', '>=', from),
    before && audit('at', '<', before),
  );
}
