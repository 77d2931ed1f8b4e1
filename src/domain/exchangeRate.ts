/** Rates that turn a receipt's amounts into pesos: which day's closing counts, and what can be known of it. Imports nothing but the calendar. */
import { addDays } from './montevideo.ts';

/** The rate of a currency (ISO 4217) at the closing of a day, `YYYY-MM-DD`. */
export interface WantedRate {
  readonly currency: string;
  readonly date: string;
}

/** A rate that is known. */
export interface KnownRate extends WantedRate {
  /** Pesos of one unit, decimal text above zero with all its decimals. */
  readonly rate: string;
  /** Who quoted it, and for which day where that is another. */
  readonly source: string;
}

/**
 * What is known of a wanted rate: the rate that counts for the day (`date` of a weekend is the Friday's); that the
 * central bank does not quote the currency, so that each receipt's own rate counts; or nothing yet, since the bank does
 * not answer (`unreachable`) or has not closed that day (`not_closed`). `lastKnown` is then the latest rate before it, for
 * whoever cannot wait.
 */
export type RateAnswer =
  | ({ readonly kind: 'known' } & KnownRate)
  | { readonly kind: 'unquoted' }
  | {
      readonly kind: 'awaited';
      readonly why: 'unreachable' | 'not_closed';
      readonly lastKnown: KnownRate | null;
    };

/** The last day up to `date` on which there can be a closing: a Saturday's and a Sunday's is the Friday's. */
export function closingDay(date: string): string {
  const day = new Date(`${date}T00:00:00Z`).getUTCDay();
  if (day === 6) return addDays(date, -1);
  return day === 0 ? addDays(date, -2) : date;
}
