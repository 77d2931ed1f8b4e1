/** CAEs, and the fate of their numbers. */
import { type EntityManager, type FilterQuery, type Loaded, LockMode, raw } from '@mikro-orm/postgresql';
import type { AnnulmentReason } from '../../domain/numbers/annulment.ts';
import type { CaeStartFinding } from '../../domain/numbers/caeStart.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import { type RejectionReason, rejectionCodes } from '../../domain/receipts/rejection.ts';
import { checkCaeStartMessage, type WorkflowMessage } from '../../temporal.ts';
import { Annulment, Cae } from '../entities/numbers.ts';
import { Cfe } from '../entities/receipts.ts';
import type { ListPage } from '../page.ts';
import type { Numbering } from '../receipts/cfes.ts';
import { givenConditions, millisecondsSql } from '../sql.ts';

/** A CAE without its file, which only audits read. */
export type CaeRow = Loaded<Cae, never, never, 'xml'>;

/** Returns the CAEs of an enterprise, in the order of upload. */
export function findCaes(em: EntityManager, rut: string, environment: Environment): Promise<CaeRow[]> {
  return em.find(Cae, { rut, environment }, { orderBy: { createdAt: 'asc', id: 'asc' }, exclude: ['xml'] });
}

/**
 * Returns the CAEs of one type that have not expired on `today` (Montevideo, `YYYY-MM-DD`). A caller that has locked
 * the numbering (`lockNumbering`) may move a `lastNumber`.
 */
export function listUnexpiredCaes(
  em: EntityManager,
  { rut, environment, type, today }: Numbering & { today: string },
): Promise<CaeRow[]> {
  return em.find(Cae, { rut, environment, type, expirationDate: { $gte: today } }, { exclude: ['xml'] });
}

/** Returns the CAE whose range contains a span of numbers, used or not, or null. */
export function findCaeOfSpan(
  em: EntityManager,
  { rut, environment, type, serie, from, to }: Numbering & { serie: string; from: number; to: number },
): Promise<CaeRow | null> {
  const holding = { numberStart: { $lte: from }, numberEnd: { $gte: to } };
  return em.findOne(Cae, { rut, environment, type, serie, ...holding }, { exclude: ['xml'] });
}

/** The values of a new CAE. */
export type NewCae = Omit<Cae, symbol | 'numbersLeft' | 'elsewhere' | 'startOpen' | 'startFindings'>;

/**
 * Stores a CAE whose numbers up to `lastNumber` were used elsewhere. The caller holds the enterprise's lock and has
 * checked that the range is free; the table rejects an overlap anyway.
 */
export async function insertCae(em: EntityManager, values: NewCae): Promise<Cae> {
  const { numberStart, lastNumber } = values;
  const elsewhere = lastNumber < numberStart ? '{}' : `{[${numberStart},${lastNumber}]}`;
  const startOpen = values.startNumber != null;
  const cae = em.create(Cae, { ...values, elsewhere, startOpen });
  await em.flush();
  return cae;
}

/** Returns whether a type of the sandbox has, or had, an invented CAE. */
export async function hasInventedCae(em: EntityManager, { rut, type }: Numbering): Promise<boolean> {
  return (await em.count(Cae, { rut, environment: 'sandbox', type, xml: null })) > 0;
}

/**
 * Ends the sandbox CAEs of a type at their last used number, so that other CAEs may follow; removes unused CAEs. Returns the
 * last used number of the serie, 0 without one. `invented`: ends only invented CAEs. The caller has locked the numbering.
 */
export async function endSandboxCaes(
  em: EntityManager,
  { rut, type }: Numbering,
  serie: string,
  { invented = false } = {},
): Promise<number> {
  const mine = `rut = ? and environment = 'sandbox' and type = ?${invented ? ' and xml is null' : ''}`;
  await em.execute(
    `delete from cae where ${mine} and last_number < number_start and isempty(withheld)
       and not exists (select from cfe where cae_id = cae.id)`,
    [rut, type],
  );
  await em.execute(
    `update cae set number_end = greatest(last_number, number_start, upper(withheld) - 1) where ${mine}`,
    [rut, type],
  );
  const [row] = await em.execute<{ used: number }[]>(
    `select coalesce(max(number_end), 0)::int as used from cae where ${mine} and serie = ?`,
    [rut, type, serie],
  );
  return row?.used ?? 0;
}

// The first number of a CAE that another system used before (docs/contract.md#first-number).

/** Returns a CAE by its id. */
export const requireCae = (em: EntityManager, id: string): Promise<CaeRow> =>
  em.findOneOrFail(Cae, { id }, { exclude: ['xml'] });

/** Returns the starts of all open questions about first numbers, of one enterprise or of all. */
export async function openCaeStartMessages(
  em: EntityManager,
  { rut }: { rut?: string | undefined } = {},
): Promise<WorkflowMessage[]> {
  const caes = await em.find(
    Cae,
    { ...givenConditions({ rut }), startOpen: true },
    { fields: ['rut', 'type', 'authorizationNumber'], orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  return caes.map(checkCaeStartMessage);
}

/**
 * Stores the findings about the first number of a CAE, and returns them: without a finding that this service itself may have
 * caused by using the first number. With findings the question stays open.
 */
export function storeCaeStart(
  em: EntityManager,
  id: string,
  found: readonly CaeStartFinding[],
): Promise<CaeStartFinding[]> {
  return em.transactional(async (one) => {
    const cae = await one.findOneOrFail(
      Cae,
      { id },
      { exclude: ['xml'], lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
    );
    const isUnused = cae.startNumber != null && cae.lastNumber < cae.startNumber;
    const findings = found.filter((finding) => finding !== 'first_known' || isUnused);
    Object.assign(cae, { startFindings: findings, startOpen: findings.length > 0 });
    return findings;
  });
}

/** Ends the question about the first number of a CAE; keeps the findings. */
export const endCaeStart = (em: EntityManager, id: string): Promise<number> =>
  em.nativeUpdate(Cae, { id }, { startOpen: false });

// Numbers that were never used and never will be. A trigger annuls those of rejected CFEs.

/** Numbers of one CAE, both ends included. */
export interface NumberSpan {
  readonly from: number;
  readonly to: number;
}

/** SQL for the unused numbers of a CAE, as a multirange. */
const unusedNumbersSql = (cae: string): string =>
  `(int4multirange(int4range(${cae}.last_number + 1, ${cae}.number_end + 1)) - ${cae}.withheld)`;

/**
 * SQL for the next number of a CAE: the first one after its last that is not withheld, or one beyond its range, which
 * its table rejects. Computed from the row, so that a statement that waited for its lock sees current data.
 */
export const nextNumberSql = (cae: string): string =>
  `coalesce(lower(${unusedNumbersSql(cae)}), ${cae}.number_end + 1)`;

/**
 * Annuls the unused numbers of the span, and withholds them permanently; returns the annulments. The caller has
 * locked the numbering.
 */
export async function annulUnusedNumbers(
  em: EntityManager,
  caeId: string,
  span: NumberSpan,
  details: { reason: AnnulmentReason; typedReason?: string; reportDate: string; now: Date },
): Promise<Annulment[]> {
  const rows = await em.execute<{ id: string }[]>(
    `with ungiven as materialized (
       select cae.*, ${unusedNumbersSql('cae')} * int4multirange(int4range(?, ?, '[]')) as numbers from cae where id = ? for no key update
     ), withheld as (
       update cae set withheld = cae.withheld + ungiven.numbers from ungiven where cae.id = ungiven.id
     )
     insert into annulment
       (rut, environment, type, serie, from_number, to_number, reason, typed_reason, report_date, annulled_at, cae_id)
     select rut, environment, type, serie, lower(part), upper(part) - 1, ?, ?, ?, ?, ungiven.id
     from ungiven, unnest(numbers) as part returning id`,
    [span.from, span.to, caeId, details.reason, details.typedReason ?? null, details.reportDate, details.now],
  );
  return em.find(Annulment, { id: { $in: rows.map(({ id }) => BigInt(id)) } }, { orderBy: { id: 'asc' } });
}

/** Annulled numbers with their reasons. */
export interface AnnulledSpan {
  readonly id: string;
  readonly environment: Environment;
  readonly type: CfeType;
  readonly serie: string;
  readonly from: number;
  readonly to: number;
  readonly reason: AnnulmentReason;
  /**
   * The operator's or customer's text, from an annulment by hand or from giving the CFE up. Customers see only their
   * own.
   */
  readonly typedReason: string | null;
  /** The codes of the authority's rejection. */
  readonly authorityCodes: readonly string[];
  readonly reportDate: string;
  readonly annulledAt: Date;
}

/**
 * Returns the annulments of an enterprise, newest first; of both environments unless one is
 * given. `isOperator`: includes the texts of operators, which customers must not see.
 */
export async function listAnnulments(
  em: EntityManager,
  { rut, environment, isOperator }: { rut: string; environment?: Environment; isOperator: boolean },
  { after, limit }: ListPage,
): Promise<AnnulledSpan[]> {
  interface Row extends Omit<AnnulledSpan, 'annulledAt' | 'authorityCodes'> {
    at: number;
    rejection: RejectionReason[] | null;
  }
  const rows = await em.execute<Row[]>(
    `select page.id::text as id, page.environment, page.type, page.serie, from_number as "from", to_number as "to", reason,
       case when reason <> 'abandoned' then case when ? or exists (
           select from audit where subject = page.cae_id::text and action = 'annulment.add' and at = page.annulled_at
             and (actor like 'account:%' or actor in (
               select 'console:' || email from person where operator_role is null))) then typed_reason end
         when ? then (select audit.reason from audit where audit.subject = page.cfe_uuid::text
           and action = 'cfe.abandon' and outcome = 'abandoned' order by id desc limit 1) end as "typedReason",
       case when reason = 'rejected' then cfe.rejection end as rejection,
       report_date::text as "reportDate", ${millisecondsSql('annulled_at')} as at
     from (select * from annulment where rut = ? and environment = coalesce(?, environment)
       and (?::bigint is null or id < ?::bigint) order by id desc limit ?) page
     left join cfe on cfe.id = page.cfe_uuid
     order by page.id desc`,
    [isOperator, isOperator, rut, environment ?? null, after?.[0] ?? null, after?.[0] ?? null, limit],
  );
  return rows.map(({ at, rejection, ...row }) => ({
    ...row,
    authorityCodes: rejectionCodes(rejection),
    annulledAt: new Date(at),
  }));
}

/** Returns the annulments that overlap a span of a CAE, by number. */
export function listAnnulmentsOfSpan(
  em: EntityManager,
  caeId: string,
  { from, to }: NumberSpan,
): Promise<Annulment[]> {
  return em.find(
    Annulment,
    { caeId, fromNumber: { $lte: to }, toNumber: { $gte: from } },
    { orderBy: { fromNumber: 'asc' } },
  );
}

/**
 * Records that a recovery skipped the numbers of a CAE up to the end of the span: all but the withheld ones count as
 * used elsewhere.
 */
export async function skipCaeNumbers(
  em: EntityManager,
  caeId: string,
  { from, to }: NumberSpan,
): Promise<void> {
  await em.execute(
    `update cae set last_number = ?, elsewhere = elsewhere + (int4multirange(int4range(?, ?, '[]')) - withheld)
     where id = ?`,
    [to, from, to, caeId],
  );
}

/** An expired CAE with numbers left. */
export interface ExpiredCae {
  readonly id: string;
  readonly rut: string;
  readonly environment: Environment;
  readonly type: CfeType;
  readonly numberStart: number;
  readonly numberEnd: number;
  /** The day after its last day, in Montevideo. */
  readonly dayAfter: string;
}

/**
 * Returns at most `limit` CAEs with numbers left that expired before `today` (Montevideo), after the id `after`. An invented
 * one granted no numbers, so it leaves none to annul.
 */
export function listExpiredCaes(
  em: EntityManager,
  { today, after, limit }: { today: string; after: string; limit: number },
): Promise<ExpiredCae[]> {
  return em.execute<ExpiredCae[]>(
    `select id, rut, environment, type, number_start as "numberStart", number_end as "numberEnd",
       (expiration_date + 1)::text as "dayAfter"
     from cae where expiration_date < ? and numbers_left > 0 and xml is not null and id > ? order by id limit ?`,
    [today, after, limit],
  );
}

// Numbers that the authority rejected for E06 alone are undecided: its portal may still accept the CFE.

const UNDECIDED: FilterQuery<Cfe> = {
  status: 'REJECTED',
  [raw((cfe) => `number_fate(${cfe}.rejection)`)]: 'undecided',
  [raw((cfe) => `not exists (select from annulment where annulment.cfe_uuid = ${cfe}.id)`)]: true,
};

/** Returns at most `limit` CFEs with an undecided number, after the id `after`, by id. */
export function listUndecidedCfes(
  em: EntityManager,
  { after, limit }: { after: string; limit: number },
): Promise<Cfe[]> {
  return em.find(Cfe, { $and: [UNDECIDED, { id: { $gt: after } }] }, { orderBy: { id: 'asc' }, limit });
}

export async function isNumberUndecided(em: EntityManager, id: string): Promise<boolean> {
  return (await em.count(Cfe, { $and: [UNDECIDED, { id }] })) > 0;
}

/** Annuls the undecided number of a CFE, with the open transaction, which holds the lock of the CFE. */
export async function annulUndecidedNumber(em: EntityManager, { id }: Cfe, now: Date): Promise<void> {
  await em.execute(
    `insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at,
       cae_id, cfe_uuid)
     select rut, environment, type, serie, numero, numero, 'rejected', left(document ->> 'signedAt', 10)::date, ?,
       cae_id, id
     from cfe where id = ?`,
    [now, id],
  );
}

// The proof that no number of a CAE is unaccounted for (docs/contract.md#numbers).

/** Counts of the numbers of one CAE; `given` must be `issued` + `annulled` + `waiting`. */
export interface NumbersOfCae {
  readonly rut: string;
  readonly environment: Environment;
  readonly authorizationNumber: string;
  readonly type: CfeType;
  readonly serie: string;
  /** By the CAE's row: from its first number to its last used one, and the withheld ones; without `elsewhere`. */
  readonly given: number;
  /** CFEs that the authority accepted or observed. */
  readonly issued: number;
  /** By the rows of annulments. */
  readonly annulled: number;
  /** CFEs without a verdict, or with one that leaves their number open: E09, and E06 until it is decided. */
  readonly waiting: number;
  /** Below the first number to use here, skipped by a recovery, or used by another system. */
  readonly elsewhere: number;
}

/**
 * Returns whether all numbers of a CAE are accounted for.
 * @internal
 */
export const isAccountedFor = ({ given, issued, annulled, waiting }: NumbersOfCae): boolean =>
  given === issued + annulled + waiting;

/** Longest time of the query: it counts some millions of CFEs per second. */
const STATEMENT_MILLISECONDS = 10 * 60_000;

/** SQL that counts the rejected CFEs of a CAE by the fate of their number (the database function number_fate). */
const countRejectedSql = (fate: string, more?: string): string =>
  `select count(*) as cfes${more === undefined ? '' : `, ${more}`} from cfe
   where status = 'REJECTED' and number_fate(rejection) = '${fate}' and cae_id = cae.id`;

/**
 * Counts the numbers of every CAE, or of one enterprise's, as of one moment: `given` from the CAE, the rest from CFEs
 * and annulments. Issued CFEs are those in the index of numbers minus the few open or rejected ones.
 */
export function reconcileNumbers(
  em: EntityManager,
  { rut }: { rut?: string | undefined } = {},
): Promise<NumbersOfCae[]> {
  return em.transactional(async (one) => {
    await one.execute(`set local statement_timeout to ${STATEMENT_MILLISECONDS}`);
    return one.execute<NumbersOfCae[]>(
      `with open as materialized (
         select cae_id, count(*) as cfes from cfe where settled_at is null group by cae_id
       )
       select cae.rut, cae.environment, authorization_number as "authorizationNumber", cae.type, serie,
         (how_many(int4multirange(int4range(number_start, last_number + 1)) + withheld - cae.elsewhere)
           - others.cfes)::integer as given,
         (stored.cfes - coalesce(open.cfes, 0) - others.cfes - lost.cfes - reusable.cfes - undecided.cfes)::integer
           as issued,
         annulled.numbers::integer as annulled,
         (coalesce(open.cfes, 0) + reusable.cfes + undecided.waiting)::integer as waiting,
         (how_many(cae.elsewhere) + others.cfes)::integer as elsewhere
       from cae left join open on open.cae_id = cae.id,
       lateral (select count(*) as cfes from cfe
         where rut = cae.rut and environment = cae.environment and type = cae.type and serie = cae.serie
           and numero between number_start and number_end) as stored,
       lateral (${countRejectedSql('elsewhere')}) as others,
       lateral (${countRejectedSql('annulled')}) as lost,
       lateral (${countRejectedSql('reusable')}) as reusable,
       lateral (${countRejectedSql(
         'undecided',
         'count(*) filter (where not exists (select from annulment where cfe_uuid = cfe.id)) as waiting',
       )}) as undecided,
       lateral (select coalesce(sum(to_number - from_number + 1), 0) as numbers from annulment
         where cae_id = cae.id) as annulled
       where ?::text is null or cae.rut = ?
       order by cae.rut, cae.environment, cae.type, cae.created_at, cae.id`,
      [rut ?? null, rut ?? null],
    );
  });
}

/** Counts the CAEs with unaccounted numbers, by environment. */
export async function countUnaccountedCaes(em: EntityManager): Promise<Record<Environment, number>> {
  const counts = { production: 0, sandbox: 0 };
  for (const cae of await reconcileNumbers(em)) if (!isAccountedFor(cae)) counts[cae.environment] += 1;
  return counts;
}
