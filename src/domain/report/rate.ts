/**
 * By which rate a receipt counts in pesos in the daily report (Formato Reporte v13.2, rule on foreign currency since
 * 2022-11-01; docs/authority/reports.md#which-rate).
 */
import { type CfeType, cfeTypeRow } from '../cfeTypes.ts';
import type { WantedRate } from '../exchangeRate.ts';
import { addDays } from '../montevideo.ts';

/** Indexed units: the central bank quotes them in no market, so the receipt's own value counts. */
const INDEXED: readonly string[] = ['UYI', 'UYR'];

/** Where the rate of a receipt comes from: it needs none, it brings its own (TpoCambio), or the central bank has it. */
export type RateSource = 'none' | 'own' | 'bank';

/** Notes, credit and debit, and indexed units count by the receipt's own rate. */
export function rateSource(type: CfeType, currency: string): RateSource {
  if (currency === 'UYU') return 'none';
  return cfeTypeRow(type).note !== null || INDEXED.includes(currency) ? 'own' : 'bank';
}

/**
 * The quotation for receipts of that day of emission: of the day before it. Null where they are dated later than the
 * report's moment of signing: then no quotation exists, and their own rate counts.
 */
export function wantedRate(currency: string, emissionDate: string, signedOn: string): WantedRate | null {
  return emissionDate > signedOn ? null : { currency, date: addDays(emissionDate, -1) };
}
