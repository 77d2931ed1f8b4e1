import Big from 'big.js';

/** The VAT rates of lines, by iva_type. */
export type VatRate = 'minimum' | 'basic';
export type VatRates = Readonly<Record<VatRate, Big>>;

/** Percentages by first day of validity; a change of law adds a row (Formato CFE v25.2, table B). */
const RATES = [{ since: '2011-10-01', minimum: '10', basic: '22' }] as const;

/**
 * Returns the VAT percentages on an emission date. A date before the table has those of its first row: the rule on emission
 * dates refuses it.
 */
export function vatPercents(on: string): VatRates {
  const row = RATES.findLast(({ since }) => since <= on) ?? RATES[0];
  return { minimum: Big(row.minimum), basic: Big(row.basic) };
}
