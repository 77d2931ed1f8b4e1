/** Rates of foreign currencies, and values of the UI. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { KnownRate, WantedRate } from '../domain/exchangeRate.ts';
import { ExchangeRate, UiValue } from './entities/operations.ts';
import { runSql, whereAll } from './sql.ts';

/**
 * The UI value that counts in `year`: its own, else the last before it, else the first after it; null while the table is empty
 * (docs/contract.md#value-of-the-ui). Its `year` and `estimate` tell whether it stands in for another.
 */
export async function findUiValue(em: EntityManager, year: number): Promise<UiValue | null> {
  const before = await em.findOne(UiValue, { year: { $lte: year } }, { orderBy: { year: 'desc' } });
  return before ?? em.findOne(UiValue, { year: { $gt: year } }, { orderBy: { year: 'asc' } });
}

/** The UI value of every year that has one. */
export function listUiValues(em: EntityManager): Promise<UiValue[]> {
  return em.find(UiValue, {}, { orderBy: { year: 'asc' } });
}

/** Stores UI values, in place of those of the same years. */
export async function putUiValues(
  em: EntityManager,
  values: readonly Omit<UiValue, symbol>[],
): Promise<void> {
  if (values.length > 0) await em.upsertMany(UiValue, [...values], { onConflictFields: ['year'] });
}

// Rates of foreign currencies; nothing else knows the table exchange_rate.

/** The rates that are stored of those that are wanted, in any order. */
export async function findRates(em: EntityManager, wanted: readonly WantedRate[]): Promise<KnownRate[]> {
  if (wanted.length === 0) return [];
  return em.execute<KnownRate[]>(
    `select currency, date::text as date, rate::text as rate, source from exchange_rate
     where (currency, date) in (${wanted.map(() => '(?, ?::date)').join(', ')})`,
    wanted.flatMap(({ currency, date }) => [currency, date]),
  );
}

/** The latest stored rate of a currency up to a day; null where there is none. */
export async function findLastRate(
  em: EntityManager,
  { currency, date }: WantedRate,
): Promise<KnownRate | null> {
  const [row] = await em.execute<KnownRate[]>(
    `select currency, date::text as date, rate::text as rate, source from exchange_rate
     where currency = ? and date <= ?::date order by date desc limit 1`,
    [currency, date],
  );
  return row ?? null;
}

/** Stores rates that are not there yet: what an operator has loaded stays. */
export async function insertMissingRates(em: EntityManager, rates: readonly KnownRate[]): Promise<void> {
  await store(em, rates, 'ignore');
}

/** Stores rates, in place of those of the same days. */
export async function putRates(em: EntityManager, rates: readonly KnownRate[]): Promise<void> {
  await store(em, rates, 'merge');
}

async function store(
  em: EntityManager,
  rates: readonly KnownRate[],
  onConflictAction: 'ignore' | 'merge',
): Promise<void> {
  if (rates.length === 0) return;
  // In one order, so that two who store the same days at once wait for each other and not in a circle.
  const rows = rates.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  await em.upsertMany(
    ExchangeRate,
    rows.map(({ currency, date, rate, source }) => ({ currency, date, rate, source })),
    { onConflictFields: ['currency', 'date'], onConflictAction },
  );
}

const key = ({ currency, date }: WantedRate): string => `${currency} ${date}`;

/** Every stored rate, the latest first. */
export function listRates(em: EntityManager): Promise<KnownRate[]> {
  return em.execute<KnownRate[]>(
    `select currency, date::text as date, rate::text as rate, source from exchange_rate
     order by date desc, currency`,
  );
}

/** Stored rates behind a day and currency, the latest day first; with `date` those of that day alone. */
export function listRatesAfter(
  em: EntityManager,
  {
    date,
    ...page
  }: { date?: string | undefined; after: { date: string; currency: string } | null; limit: number },
): Promise<KnownRate[]> {
  const { after, limit } = page;
  const wanted = whereAll(
    date !== undefined && sql`date = ${date}`,
    after && sql`date < ${after.date} or date = ${after.date} and currency > ${after.currency}`,
  );
  return runSql(em)`
    select currency, date::text as date, rate::text as rate, source from exchange_rate
    where ${wanted} order by exchange_rate.date desc, currency limit ${limit}`;
}
