/** Exchange rates of receipts to pesos. Imports only the calendar. */
import { addDays } from '../values/montevideo.ts';

/** The rate of a currency (ISO 4217) at the closing of a day, `YYYY-MM-DD`. */
export interface WantedRate {
  readonly currency: string;
  readonly date: string;
}

/** A known rate. */
export interface KnownRate extends WantedRate {
  /** Pesos for one unit, decimal text above zero with all its decimals. */
  readonly rate: string;
  /** The source, and the day of the quotation if it differs. */
  readonly source: string;
}

/**
 * The answer for a wanted rate: the rate (on weekends Friday's), `unquoted` (the receipts' own rates apply), or `awaited`
 * because the central bank does not answer or has not closed the day; `lastKnown` is then the latest earlier rate.
 */
export type RateAnswer =
  | ({ readonly kind: 'known' } & KnownRate)
  | { readonly kind: 'unquoted' }
  | {
      readonly kind: 'awaited';
      readonly why: 'unreachable' | 'not_closed';
      readonly lastKnown: KnownRate | null;
    };

/** Returns the last possible closing day up to `date`: Friday for a weekend. */
export function closingDay(date: string): string {
  const day = new Date(`${date}T00:00:00Z`).getUTCDay();
  if (day === 6) return addDays(date, -1);
  return day === 0 ? addDays(date, -2) : date;
}
