/** Numbers that were never given and never will be. Those of rejected CFEs the database annuls itself (migration 0033). */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AnnulmentReason } from '../domain/annulment.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import { Annulment } from './entities/Annulment.ts';

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
export const nextNumber = (cae: string): string => `coalesce(lower(${left(cae)}), ${cae}.number_end + 1)`;

/**
 * Annuls those numbers of the span that the CAE has still to give, and withholds them for ever; answers the annulments.
 * The caller has locked the numbering.
 */
export async function annulUngiven(
  em: EntityManager,
  caeId: string,
  span: NumberSpan,
  of: { reason: AnnulmentReason; reportDate: string; now: Date },
): Promise<Annulment[]> {
  const rows = await em.execute<{ id: string }[]>(
    `with ungiven as materialized (
       select cae.*, ${left('cae')} * int4multirange(int4range(?, ?, '[]')) as numbers from cae where id = ? for no key update
     ), withheld as (
       update cae set withheld = cae.withheld + ungiven.numbers from ungiven where cae.id = ungiven.id
     )
     insert into annulment
       (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at, cae_id)
     select rut, environment, type, series, lower(part), upper(part) - 1, ?, ?, ?, ungiven.id
     from ungiven, unnest(numbers) as part returning id`,
    [span.from, span.to, caeId, of.reason, of.reportDate, of.now],
  );
  return em.find(Annulment, { id: { $in: rows.map(({ id }) => BigInt(id)) } }, { orderBy: { id: 'asc' } });
}

/** The annulments of an enterprise, the latest first, at most `limit`. */
export function listAnnulments(
  em: EntityManager,
  of: { rut: string; environment: Environment },
  limit: number,
): Promise<Annulment[]> {
  return em.find(Annulment, of, { orderBy: { annulledAt: 'desc', id: 'desc' }, limit });
}

/** The annulments among the numbers of a CAE, by number. */
export function annulmentsWithin(
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
export async function skipNumbersOf(
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
export function expiredWithNumbers(
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
