/** Exchange rates: the only module that reads or writes the table exchange_rate. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { KnownRate, WantedRate } from '../domain/exchangeRate.ts';
import { ExchangeRate } from './entities/ExchangeRate.ts';

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
export async function lastKnownRate(
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
export async function keepRates(em: EntityManager, rates: readonly KnownRate[]): Promise<void> {
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
    after,
    limit,
  }: { date?: string | undefined; after: { date: string; currency: string } | null; limit: number },
): Promise<KnownRate[]> {
  const [day, currency] = [after?.date ?? null, after?.currency ?? null];
  return em.execute<KnownRate[]>(
    `select currency, date::text as date, rate::text as rate, source from exchange_rate
     where (?::date is null or date = ?::date)
       and (?::date is null or date < ?::date or date = ?::date and currency > ?::text)
     order by exchange_rate.date desc, currency limit ?`,
    [date ?? null, date ?? null, day, day, day, currency, limit],
  );
}
