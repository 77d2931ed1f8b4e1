import { daysAfter, withoutZone } from '../clock.ts';
import type { State } from './database.ts';

/** The currencies that the central bank quotes: its number and name for each, and what the made-up rate begins at. */
export const QUOTED = {
  USD: { number: 2225, name: 'DLS. USA BILLETE', least: 40, spread: 2 },
  EUR: { number: 1111, name: 'EURO', least: 44, spread: 3 },
  ARS: { number: 501, name: 'PESO ARG.BILLETE', least: 0.02, spread: 0.01 },
  BRL: { number: 1001, name: 'REAL BILLETE', least: 7, spread: 1 },
} as const;
export type QuotedCurrency = keyof typeof QUOTED;
export const QUOTED_CURRENCIES = Object.keys(QUOTED) as readonly QuotedCurrency[];

/** The local hour from which on a day's closing is known. */
const CLOSING_HOUR = 18;

/** Further back nobody looks for a quotation. */
const LONGEST_PAUSE_DAYS = 14;

const isWeekday = (day: string): boolean => ![0, 6].includes(new Date(`${day}T00:00:00Z`).getUTCDay());

/** The last weekday whose closing is known by itself. */
function lastWeekdayClosed(now: Date): string {
  const local = withoutZone(now);
  let day = local.slice(0, 10);
  if (Number(local.slice(11, 13)) < CLOSING_HOUR) day = daysAfter(day, -1);
  while (!isWeekday(day)) day = daysAfter(day, -1);
  return day;
}

/** A rate that every weekday has: made up, and always the same for a day. */
function madeUp(currency: QuotedCurrency, day: string): string {
  const { least, spread } = QUOTED[currency];
  const part = ((new Date(`${day}T00:00:00Z`).getTime() / 86_400_000) * 7919) % 1000;
  return (least + (spread * part) / 1000).toFixed(6);
}

/** The buyer's rate of a currency at the closing of a day, decimal text; null where the bank did not quote it, or has not yet. */
export function closingRate(state: State, currency: QuotedCurrency, day: string, now: Date): string | null {
  const row = state.prepare('select rate from rates where date = ? and currency = ?').get(day, currency);
  if (row) return row['rate'] === null ? null : String(row['rate']);
  return isWeekday(day) && day <= lastWeekdayClosed(now) ? madeUp(currency, day) : null;
}

/** The last day with a closing. */
export function lastClosing(state: State, now: Date): string {
  const put = state
    .prepare('select max(date) as last from rates where rate is not null and date <= ?')
    .get(withoutZone(now).slice(0, 10));
  const byItself = lastWeekdayClosed(now);
  const last = String(put?.['last'] ?? '');
  return last > byItself ? last : byItself;
}

/**
 * The rate for an operation of a day: the closing of the day before, or of the last day before that with one
 * (docs/authority/reports.md#which-rate); null where the currency is not quoted.
 */
export function rateForOperation(state: State, currency: string, day: string, now: Date): string | null {
  const known = QUOTED_CURRENCIES.find((one) => one === currency);
  if (!known) return null;
  for (let back = 1; back <= LONGEST_PAUSE_DAYS; back += 1) {
    const rate = closingRate(state, known, daysAfter(day, -back), now);
    if (rate !== null) return rate;
  }
  return null;
}

/** Puts the rates of a day in place of those it had; null: not quoted. */
export function putRate(state: State, day: string, currency: string, rate: string | null): void {
  state
    .prepare('insert into rates values (?, ?, ?) on conflict do update set rate = excluded.rate')
    .run(day, currency, rate);
}
