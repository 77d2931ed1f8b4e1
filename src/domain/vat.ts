import Big from 'big.js';

/** The rates of VAT that a line can bear (its iva_type says which). */
export type VatRate = 'minimum' | 'basic';
export type VatRates = Readonly<Record<VatRate, Big>>;

/** Percentages by the first day on which they count; a change of law adds a row (Formato CFE v25.2, table B). */
const RATES = [{ since: '2011-10-01', minimum: '10', basic: '22' }] as const;

/** The percentages of VAT on a day of emission; a day before the table begins is a mistake of ours. */
export function vatPercents(on: string): VatRates {
  const row = RATES.findLast(({ since }) => since <= on);
  if (row === undefined) throw new RangeError(`no VAT rates are known for ${on}`);
  return { minimum: Big(row.minimum), basic: Big(row.basic) };
}
