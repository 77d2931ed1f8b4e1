/** Queries of the console's enterprise pages: over all enterprises, or the visible ones. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import {
  type EnterpriseStatus,
  missingReadyFacts,
  type Permission,
  type ReadyFact,
} from '../../domain/enterprises/enterpriseStatus.ts';
import { addDays, montevideoDate } from '../../domain/values/montevideo.ts';
import type { ListPage } from '../page.ts';
import { type ViewerAccounts, visibleTo } from '../people/roles.ts';
import { containsPattern, escapeLike, type Fragment, runSql, whereAll } from '../sql.ts';

/** An enterprise as the list shows it. */
export interface ListedEnterprise {
  readonly rut: string;
  readonly legalName: string;
  readonly status: EnterpriseStatus;
  /** The missing conditions for READY, also of an enterprise that is READY. */
  readonly missing: readonly ReadyFact[];
  /** The last day of its certificate in Montevideo. */
  readonly certificateEnds: string | null;
  /** The earliest expiration date of its valid CAEs with numbers left. */
  readonly caeEnds: string | null;
  readonly lastCfeAt: Date | null;
}

/** Selects enterprises; all given conditions must hold. */
export interface EnterpriseFilter {
  /** The beginning of its RUT, or part of one of its names. */
  readonly text?: string | undefined;
  readonly status?: EnterpriseStatus | undefined;
  readonly lacks?: ReadyFact | undefined;
  /** Its certificate or a CAE expires within this many days, or has expired. */
  readonly endsWithin?: number | undefined;
}

interface Row extends Omit<ListedEnterprise, 'missing' | 'lastCfeAt'> {
  readonly permissions: readonly Permission[];
  readonly hasPlan: boolean;
  readonly dateCome: boolean;
  readonly certificateHolds: boolean;
  readonly caeHolds: boolean;
  readonly lastCfeAt: string | null;
}

/** SQL for the last day of a certificate `c` in Montevideo. */
export const LAST_DAY = sql`(c.not_after at time zone 'America/Montevideo')::date`;

/** SQL for each condition for READY. */
const FACTS: Readonly<Record<ReadyFact, Fragment>> = {
  prodPermission: sql`'PROD' = any (permissions)`,
  validCertificate: sql`certificate_holds`,
  plan: sql`plan_id is not null`,
  okCae: sql`cae_holds`,
  dateCome: sql`date_come`,
};

/** Returns a page of enterprises at `now`, by RUT. */
export async function listVisibleEnterprises(
  em: EntityManager,
  accounts: ViewerAccounts,
  { text, status, lacks, endsWithin }: EnterpriseFilter,
  { after, limit, now }: ListPage & { now: Date },
): Promise<ListedEnterprise[]> {
  const today = montevideoDate(now);
  const matching = whereAll(
    visibleTo(accounts, 'e.rut'),
    after && sql`e.rut > ${after[0]}`,
    status !== undefined && sql`e.status = ${status}`,
    text !== undefined &&
      sql`(e.rut like ${`${escapeLike(text)}%`} or e.legal_name ilike ${containsPattern(text)}
        or e.trade_name ilike ${containsPattern(text)})`,
  );
  const wanted = whereAll(
    lacks !== undefined && sql`not (${FACTS[lacks]})`,
    endsWithin !== undefined && sql`least(certificate_ends, cae_ends) <= ${addDays(today, endsWithin)}`,
  );
  const rows = await runSql(em)<Row>`
    select rut, legal_name as "legalName", status, permissions, plan_id is not null as "hasPlan", date_come as "dateCome",
      certificate_holds as "certificateHolds", cae_holds as "caeHolds",
      certificate_ends::text as "certificateEnds", cae_ends::text as "caeEnds",
      (select max(created_at) from cfe where cfe.rut = found.rut and environment = 'production') as "lastCfeAt"
    from (
      select e.*, coalesce(e.scheduled_ready_date <= ${now}, false) as date_come,
        coalesce(${now} between c.not_before and c.not_after and c.revoked_at is null, false) as certificate_holds,
        ${LAST_DAY} as certificate_ends,
        exists (select from cae where cae.rut = e.rut and environment = 'production' and expiration_date >= ${today})
          as cae_holds,
        (select min(expiration_date) from cae
          where cae.rut = e.rut and environment = 'production' and expiration_date >= ${today} and numbers_left > 0) as cae_ends
      from enterprise e left join certificate c
        on c.rut = e.rut and c.environment = 'production' and c.replaced_at is null
      where ${matching}
    ) as found
    where ${wanted} order by rut limit ${limit}`;
  return rows.map(toListedEnterprise);
}

function toListedEnterprise({
  permissions,
  hasPlan,
  dateCome,
  certificateHolds,
  caeHolds,
  lastCfeAt,
  ...row
}: Row): ListedEnterprise {
  return {
    ...row,
    missing: missingReadyFacts({
      prodPermission: permissions.includes('PROD'),
      validCertificate: certificateHolds,
      plan: hasPlan,
      okCae: caeHolds,
      dateCome,
    }),
    lastCfeAt: lastCfeAt === null ? null : new Date(lastCfeAt),
  };
}

/** An account with a role at an enterprise. */
export interface AccountRole {
  readonly accountId: string;
  readonly name: string;
  readonly role: 'OWNER' | 'MEMBER' | 'VIEWER';
}

/** Returns the accounts with a role at an enterprise, its owner first. */
export function listAccountRoles(em: EntityManager, rut: string): Promise<AccountRole[]> {
  return em.execute<AccountRole[]>(
    `select account.id as "accountId", name, role from (
       select owner_account_id as id, 'OWNER' as role, 0 as place from enterprise where rut = ?
       union all select account_id, role, 1 from enterprise_grant where rut = ?
     ) as held join account using (id) order by place, name, account.id`,
    [rut, rut],
  );
}
