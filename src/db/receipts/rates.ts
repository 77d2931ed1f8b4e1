/** Exchange rates, and values of the UI. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { KnownRate, WantedRate } from '../../domain/receipts/exchangeRate.ts';
import { ExchangeRate, UiValue } from '../entities/operations.ts';
import type { ListPage } from '../page.ts';
import { runSql, whereAll } from '../sql.ts';

/** Returns all UI values, by year. */
export function listUiValues(em: EntityManager): Promise<UiValue[]> {
  return em.find(UiValue, {}, { orderBy: { year: 'asc' } });
}

/** Stores UI values; replaces those of the same years. */
export async function putUiValues(
  em: EntityManager,
  values: readonly Omit<UiValue, symbol>[],
): Promise<void> {
  if (values.length > 0) await em.upsertMany(UiValue, [...values], { onConflictFields: ['year'] });
}

// Exchange rates; the statement that issues a CFE reads them, too.

/** Returns the last known rate of each currency before a day, decimal text with at most three decimals. */
export async function lastRatesBefore(em: EntityManager, date: string): Promise<Record<string, string>> {
  const rows = await em.execute<{ currency: string; rate: string }[]>(
    `select distinct on (currency) currency, round(rate, 3)::text as rate from exchange_rate
     where date < ?::date order by currency, date desc`,
    [date],
  );
  return Object.fromEntries(rows.map(({ currency, rate }) => [currency, rate]));
}

/** Returns the stored ones of the wanted rates, in any order. */
export async function findRates(em: EntityManager, wanted: readonly WantedRate[]): Promise<KnownRate[]> {
  if (wanted.length === 0) return [];
  return em.execute<KnownRate[]>(
    `select currency, date::text as date, rate::text as rate, source from exchange_rate
     where (currency, date) in (${wanted.map(() => '(?, ?::date)').join(', ')})`,
    wanted.flatMap(({ currency, date }) => [currency, date]),
  );
}

/** Returns the latest stored rate of a currency up to a day, or null. */
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

/** Stores missing rates; keeps those that an operator has loaded. */
export async function insertMissingRates(em: EntityManager, rates: readonly KnownRate[]): Promise<void> {
  await upsertRates(em, rates, 'ignore');
}

/** Stores rates; replaces those of the same days. */
export async function putRates(em: EntityManager, rates: readonly KnownRate[]): Promise<void> {
  await upsertRates(em, rates, 'merge');
}

async function upsertRates(
  em: EntityManager,
  rates: readonly KnownRate[],
  onConflictAction: 'ignore' | 'merge',
): Promise<void> {
  if (rates.length === 0) return;
  // Inserts in a fixed order: prevents deadlocks between concurrent calls.
  const rows = rates.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  await em.upsertMany(
    ExchangeRate,
    rows.map(({ currency, date, rate, source }) => ({ currency, date, rate, source })),
    { onConflictFields: ['currency', 'date'], onConflictAction },
  );
}

const key = ({ currency, date }: WantedRate): string => `${currency} ${date}`;

/** Returns all stored rates, latest first. */
export function listRates(em: EntityManager): Promise<KnownRate[]> {
  return em.execute<KnownRate[]>(
    `select currency, date::text as date, rate::text as rate, source from exchange_rate
     order by date desc, currency`,
  );
}

/** Returns stored rates after a day and currency, latest day first; with `date` only those of that day. */
export function listRatesAfter(
  em: EntityManager,
  date: string | undefined,
  { after, limit }: ListPage,
): Promise<KnownRate[]> {
  const wanted = whereAll(
    date !== undefined && sql`date = ${date}`,
    after && sql`date < ${after[0]} or date = ${after[0]} and currency > ${after[1]}`,
  );
  return runSql(em)`
    select currency, date::text as date, rate::text as rate, source from exchange_rate
    where ${wanted} order by exchange_rate.date desc, currency limit ${limit}`;
}
