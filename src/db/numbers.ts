/** CAEs, and what became of their numbers. */
import { type EntityManager, type FilterQuery, type Loaded, raw } from '@mikro-orm/postgresql';
import type { AnnulmentReason } from '../domain/annulment.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import { codesOf, type RejectionReason } from '../domain/rejection.ts';
import type { Numbering } from './cfes.ts';
import { Annulment, Cae } from './entities/numbers.ts';
import { Cfe } from './entities/receipts.ts';
import { millisecondsSql } from './sql.ts';

/** A CAE without its file, which nothing reads but an audit. */
export type CaeRow = Loaded<Cae, never, never, 'xml'>;

/** The CAEs of an enterprise, in the order in which they were uploaded. */
export function findCaes(em: EntityManager, rut: string, environment: Environment): Promise<CaeRow[]> {
  return em.find(Cae, { rut, environment }, { orderBy: { createdAt: 'asc', id: 'asc' }, exclude: ['xml'] });
}

/**
 * The CAEs of one type that have not expired on `today` (Montevideo, `YYYY-MM-DD`). Whoever has locked the type's
 * numbering (`takeSequence`) may choose one and move its `lastNumber`.
 */
export function listUnexpiredCaes(
  em: EntityManager,
  { rut, environment, type, today }: Numbering & { today: string },
): Promise<CaeRow[]> {
  return em.find(Cae, { rut, environment, type, expirationDate: { $gte: today } }, { exclude: ['xml'] });
}

/** The CAE that holds all numbers of a span, given or not; null where there is none. */
export function findCaeOfSpan(
  em: EntityManager,
  { rut, environment, type, serie, from, to }: Numbering & { serie: string; from: number; to: number },
): Promise<CaeRow | null> {
  const holding = { numberStart: { $lte: from }, numberEnd: { $gte: to } };
  return em.findOne(Cae, { rut, environment, type, serie, ...holding }, { exclude: ['xml'] });
}

/** The values of a CAE that is stored for the first time. */
export type NewCae = Omit<Cae, symbol | 'numbersLeft' | 'elsewhere'>;

/**
 * Stores a CAE, whose numbers up to `lastNumber` were given elsewhere. The caller holds the enterprise's lock and has seen
 * that the range is free; the table refuses an overlap all the same.
 */
export async function insertCae(em: EntityManager, values: NewCae): Promise<Cae> {
  const { numberStart, lastNumber } = values;
  const elsewhere = lastNumber < numberStart ? '{}' : `{[${numberStart},${lastNumber}]}`;
  const cae = em.create(Cae, { ...values, elsewhere });
  await em.flush();
  return cae;
}

// Numbers that were never given and never will be; those of rejected CFEs are annulled by a trigger.

/** Numbers of one CAE, both ends included. */
export interface NumberSpan {
  readonly from: number;
  readonly to: number;
}

/** The numbers of a CAE that it has still to give, as a multirange. */
const left = (cae: string): string =>
  `(int4multirange(int4range(${cae}.last_number + 1, ${cae}.number_end + 1)) - ${cae}.withheld)`;

/**
 * The next number of a CAE: the first beyond its last that is not withheld, or one beyond its range, which its table
 * refuses. It is asked of the row itself, so that a statement that has waited for the row sees what is withheld by then.
 */
export const nextNumberSql = (cae: string): string => `coalesce(lower(${left(cae)}), ${cae}.number_end + 1)`;

/**
 * Annuls those numbers of the span that the CAE has still to give, and withholds them for ever; answers the annulments.
 * The caller has locked the numbering.
 */
export async function annulUnusedNumbers(
  em: EntityManager,
  caeId: string,
  span: NumberSpan,
  of: { reason: AnnulmentReason; typedReason?: string; reportDate: string; now: Date },
): Promise<Annulment[]> {
  const rows = await em.execute<{ id: string }[]>(
    `with ungiven as materialized (
       select cae.*, ${left('cae')} * int4multirange(int4range(?, ?, '[]')) as numbers from cae where id = ? for no key update
     ), withheld as (
       update cae set withheld = cae.withheld + ungiven.numbers from ungiven where cae.id = ungiven.id
     )
     insert into annulment
       (rut, environment, type, serie, from_number, to_number, reason, typed_reason, report_date, annulled_at, cae_id)
     select rut, environment, type, serie, lower(part), upper(part) - 1, ?, ?, ?, ?, ungiven.id
     from ungiven, unnest(numbers) as part returning id`,
    [span.from, span.to, caeId, of.reason, of.typedReason ?? null, of.reportDate, of.now],
  );
  return em.find(Annulment, { id: { $in: rows.map(({ id }) => BigInt(id)) } }, { orderBy: { id: 'asc' } });
}

/** Annulled numbers with all that is known of why. */
export interface AnnulledSpan {
  readonly id: string;
  readonly environment: Environment;
  readonly type: CfeType;
  readonly serie: string;
  readonly from: number;
  readonly to: number;
  readonly reason: AnnulmentReason;
  /** What was typed when they were annulled by hand, or when support gave the CFE up; to customers only their own words. */
  readonly typedReason: string | null;
  /** The codes by which the authority rejected the CFE. */
  readonly authorityCodes: readonly string[];
  readonly reportDate: string;
  readonly annulledAt: Date;
}

/**
 * The annulments of an enterprise, the latest first, behind the id `after`; of both environments unless one is named.
 * `isOperator`: with what operators typed, which is not for customers.
 */
export async function listAnnulments(
  em: EntityManager,
  { rut, environment, isOperator }: { rut: string; environment?: Environment; isOperator: boolean },
  { after, limit }: { after: string | null; limit: number },
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
    [isOperator, isOperator, rut, environment ?? null, after, after, limit],
  );
  return rows.map(({ at, rejection, ...row }) => ({
    ...row,
    authorityCodes: codesOf(rejection),
    annulledAt: new Date(at),
  }));
}

/** The annulments among the numbers of a CAE, by number. */
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

/** Notes that a recovery skipped the numbers of a CAE up to the span's end: those that are not withheld are elsewhere. */
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

/** A CAE that has expired with numbers left. */
export interface ExpiredCae {
  readonly id: string;
  readonly rut: string;
  readonly environment: Environment;
  readonly type: CfeType;
  readonly numberStart: number;
  readonly numberEnd: number;
  /** The day after its last, in Montevideo. */
  readonly dayAfter: string;
}

/** The CAEs that expired before `today` (Montevideo) and have numbers left, after the id `after`; at most `limit`. */
export function listExpiredCaes(
  em: EntityManager,
  { today, after, limit }: { today: string; after: string; limit: number },
): Promise<ExpiredCae[]> {
  return em.execute<ExpiredCae[]>(
    `select id, rut, environment, type, number_start as "numberStart", number_end as "numberEnd",
       (expiration_date + 1)::text as "dayAfter"
     from cae where expiration_date < ? and numbers_left > 0 and id > ? order by id limit ?`,
    [today, after, limit],
  );
}

// Numbers that the authority refused for E06 alone: undecided, since its portal may still accept the CFE.

const UNDECIDED: FilterQuery<Cfe> = {
  status: 'REJECTED',
  [raw((cfe) => `number_fate(${cfe}.rejection)`)]: 'undecided',
  [raw((cfe) => `not exists (select from annulment where annulment.cfe_uuid = ${cfe}.id)`)]: true,
};

/** CFEs whose number is undecided, after the id `after`, in the order of their ids; at most `limit`. */
export function listUndecidedCfes(
  em: EntityManager,
  { after, limit }: { after: string; limit: number },
): Promise<Cfe[]> {
  return em.find(Cfe, { $and: [UNDECIDED, { id: { $gt: after } }] }, { orderBy: { id: 'asc' }, limit });
}

/** Whether the number of a CFE is undecided. */
export async function isNumberUndecided(em: EntityManager, id: string): Promise<boolean> {
  return (await em.count(Cfe, { $and: [UNDECIDED, { id }] })) > 0;
}

/** Annuls the number of a CFE that is undecided, with the open transaction, which holds the lock of the CFE. */
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

/** How many numbers of one CAE stand how; `given` must be `issued` + `annulled` + `waiting`. */
export interface NumbersOfCae {
  readonly rut: string;
  readonly environment: Environment;
  readonly authorizationNumber: string;
  readonly type: CfeType;
  readonly serie: string;
  /** By the CAE itself: from its first to the last that it gave, and those that are withheld; without `elsewhere`. */
  readonly given: number;
  /** CFEs that the authority accepted or observed. */
  readonly issued: number;
  /** By the annulments. */
  readonly annulled: number;
  /** CFEs that have no verdict, or one that leaves their number open: E09, E06 until it is decided. */
  readonly waiting: number;
  /** Below the first that was to be given, skipped by a recovery, or taken by another system. */
  readonly elsewhere: number;
}

/**
 * Whether all numbers of a CAE are accounted for.
 * @internal
 */
export const isAccountedFor = ({ given, issued, annulled, waiting }: NumbersOfCae): boolean =>
  given === issued + annulled + waiting;

/** Longest time that the question may hold the database: some millions of CFEs are counted in a second. */
const STATEMENT_MILLISECONDS = 10 * 60_000;

/** Counts the rejected CFEs of a CAE whose number has that fate (the database's function number_fate). */
const rejected = (fate: string, more?: string): string =>
  `select count(*) as cfes${more === undefined ? '' : `, ${more}`} from cfe
   where status = 'REJECTED' and number_fate(rejection) = '${fate}' and cae_id = cae.id`;

/**
 * The numbers of every CAE, or of one enterprise's, as of one moment: what was given by the CAE, the rest by the rows of CFEs
 * and annulments. CFEs are counted over the index of numbers, less the few that are open or rejected: those were issued.
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
       lateral (${rejected('elsewhere')}) as others,
       lateral (${rejected('annulled')}) as lost,
       lateral (${rejected('reusable')}) as reusable,
       lateral (${rejected(
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

/** How many CAEs of each environment have a number that is unaccounted for. */
export async function countUnaccountedCaes(em: EntityManager): Promise<Record<Environment, number>> {
  const counts = { production: 0, sandbox: 0 };
  for (const cae of await reconcileNumbers(em)) if (!isAccountedFor(cae)) counts[cae.environment] += 1;
  return counts;
}
