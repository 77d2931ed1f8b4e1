/**
 * The exchange rate of a receipt in the daily report (Formato Reporte v13.2, rule on foreign currency since 2022-11-01;
 * docs/authority/reports.md#which-rate).
 */
import { type CfeType, cfeTypeRow } from '../receipts/cfeTypes.ts';
import type { WantedRate } from '../receipts/exchangeRate.ts';
import { addDays } from '../values/montevideo.ts';

/** Indexed units: the central bank does not quote them, so the receipt's own rate applies. */
const INDEXED: readonly string[] = ['UYI', 'UYR'];

/** The source of the rate: not needed, the receipt's own (TpoCambio), or the central bank. */
export type RateSource = 'none' | 'own' | 'bank';

/** Returns the source of the rate; credit notes, debit notes and indexed units use their own rate. */
export function rateSource(type: CfeType, currency: string): RateSource {
  if (currency === 'UYU') return 'none';
  return cfeTypeRow(type).note !== null || INDEXED.includes(currency) ? 'own' : 'bank';
}

/**
 * Returns the quotation for receipts of an emission date: the day before it. Null for a date after the signature of the
 * report, which has no quotation: the receipts' own rate applies.
 */
export function wantedRate(currency: string, emissionDate: string, signedOn: string): WantedRate | null {
  return emissionDate > signedOn ? null : { currency, date: addDays(emissionDate, -1) };
}
