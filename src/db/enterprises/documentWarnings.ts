/** The console's warnings: expiring certificates and CAEs, and numbers that run low. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { FEW_PART, lowNumbersKey, runsLow, type TypeNumbers } from '../../domain/enterprises/warnings.ts';
import type { CfeType } from '../../domain/receipts/cfeTypes.ts';
import { addDays, montevideoDate } from '../../domain/values/montevideo.ts';
import type { ListPage } from '../page.ts';
import { type ViewerAccounts, visibleTo } from '../people/roles.ts';
import { type Fragment, runSql, whereAll } from '../sql.ts';
import { LAST_DAY } from './consoleEnterprises.ts';
import { countRecentNumbers } from './warnings.ts';

export const DOCUMENT_WARNING_KINDS = ['low', 'cae', 'certificate'] as const;
type DocumentWarningKind = (typeof DOCUMENT_WARNING_KINDS)[number];

/**
 * A warning: an expiring CAE with numbers left, an expiring current certificate, or a type whose numbers run low over
 * all its CAEs.
 */
export interface DocumentWarning {
  readonly kind: DocumentWarningKind;
  /** The id of the CAE or certificate; for low numbers, of one of the type's CAEs. */
  readonly id: string;
  readonly rut: string;
  readonly legalName: string;
  /** Null for certificates. */
  readonly type: CfeType | null;
  readonly serie: string | null;
  readonly authorizationNumber: string | null;
  /** Its last day in Montevideo. */
  readonly ends: string;
  /** The day it is sorted by: its last day, or today for low numbers. */
  readonly day: string;
  readonly numbersLeft: number | null;
}

/** Expired certificates and CAEs are shown for this long. */
const TOLD_DAYS = 30;

/** Selects warnings by kind, and by days until expiry. */
export interface DocumentWarningFilter {
  readonly now: Date;
  readonly within: number;
  readonly kind?: DocumentWarningKind | undefined;
  /** Leaves out suspended enterprises. */
  readonly isIssuing?: boolean;
}

/**
 * Returns warnings for production: certificates and CAEs that expire within `within` days or expired recently, and
 * types with low numbers; by day, after `after`. `endedLast`: expired ones come last.
 */
export async function listDocumentWarnings(
  em: EntityManager,
  accounts: ViewerAccounts,
  { now, within, kind, isIssuing = false }: DocumentWarningFilter,
  { after, endedLast = false, limit }: ListPage & { endedLast?: boolean },
): Promise<DocumentWarning[]> {
  const today = montevideoDate(now);
  const ends = (day: Fragment): Fragment =>
    sql`${day} between ${addDays(today, -TOLD_DAYS)} and ${addDays(today, within)}`;
  const low = kind === undefined || kind === 'low' ? await findLowTypes(em, accounts, now) : [];
  const condition = whereAll(
    visibleTo(accounts, 'paper.rut'),
    kind !== undefined && sql`kind = ${kind}`,
    isIssuing && sql`e.status <> 'SUSPENDED'`,
    after && sql`(day, kind, paper.id) > (${after[0]}, ${after[1]}, ${after[2]})`,
  );
  const order = endedLast ? sql`day < ${today}, day` : sql`day`;
  return runSql(em)<DocumentWarning>`
    select kind, paper.id, paper.rut, e.legal_name as "legalName", type, serie, authorization_number as "authorizationNumber",
      ends::text as ends, day::text as day, numbers_left as "numbersLeft"
    from (
      select 'cae' as kind, id, rut, type, serie, authorization_number, expiration_date as ends,
        expiration_date as day, numbers_left
      from cae where environment = 'production' and numbers_left > 0 and ${ends(sql`expiration_date`)}
      union all
      select 'certificate', id, rut, null, null, null, ${LAST_DAY}, ${LAST_DAY}, null from certificate c
      where environment = 'production' and replaced_at is null and ${ends(LAST_DAY)}
      union all
      select 'low', id, rut, type, null, null, ends, ${today}::date, "left"
      from jsonb_to_recordset(${JSON.stringify(low)}::jsonb) as low (id uuid, rut text, type text, ends date, "left" integer)
    ) as paper join enterprise e on e.rut = paper.rut
    where ${condition} order by ${order}, kind, paper.id limit ${limit}`;
}

/** The numbers of one type of an enterprise. */
interface Counted extends Omit<TypeNumbers, 'used'> {
  readonly id: string;
  readonly rut: string;
  readonly type: CfeType;
  readonly ends: string;
  readonly isWarned: boolean;
}

/**
 * Returns the types whose numbers for production run low, by the rule of the warnings. The expensive check of the
 * pace runs only for types with a stored hourly warning (docs/contract.md#warnings); a low count shows at once.
 */
async function findLowTypes(em: EntityManager, accounts: ViewerAccounts, now: Date): Promise<Counted[]> {
  const counted = await runSql(em)<Counted>`
    select counted.*, w.rut is not null as "isWarned" from (
      select rut, type, min(id::text) as id, max(expiration_date)::text as ends,
        bool_or(is_valid) as "hasValid",
        coalesce(sum(numbers_left) filter (where is_valid), 0)::float8 as "left",
        coalesce(sum(number_end - number_start + 1) filter (where is_valid and numbers_left > 0), 0)::float8 as size
      from (select *, ${montevideoDate(now)} between issue_date and expiration_date as is_valid from cae
        where environment = 'production' and ${visibleTo(accounts, 'cae.rut')}) as own
      group by rut, type
    ) as counted left join warning w on w.rut = counted.rut and w.about = ${lowNumbersKey('')} || counted.type
    where w.rut is not null or ("hasValid" and "left" * ${FEW_PART}::float8 <= size)`;
  const isFew = (one: Counted): boolean => runsLow({ ...one, used: 0 });
  const paced = counted.filter((one) => one.isWarned && !isFew(one)).map(({ rut }) => rut);
  const used = await countRecentNumbers(em, [...new Set(paced)], now);
  return counted.filter((one) => runsLow({ ...one, used: used.get(one.rut)?.get(one.type) ?? 0 }));
}
