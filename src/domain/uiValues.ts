import Big from 'big.js';

/** An e-Ticket above this many indexed units (UI), net of VAT, must identify its receiver: Table E, since 2022-11-01. */
export const IDENTIFICATION_UI = 5000;

/** Pesos of one UI that count in a year: those of 31 December of the year before (docs/contract.md#value-of-the-ui). */
export interface UiValueRow {
  readonly year: number;
  /** Decimal text. */
  readonly value: string;
  readonly estimate: boolean;
}

/** Why a row deserves a warning where it is used for `year`: it is an estimate, or another year's. */
export function uiValueWarning(row: UiValueRow, year: number): 'estimate' | 'other year' | undefined {
  if (row.year !== year) return 'other year';
  return row.estimate ? 'estimate' : undefined;
}

/** The limit in pesos above which an e-Ticket's receiver must be identified, unrounded. */
export function identificationLimit(row: UiValueRow): Big {
  return Big(row.value).times(IDENTIFICATION_UI);
}

/**
 * The row that counts in `year`, by the same rule as where CFEs are issued: that year's own; where there is none, the last
 * known one before it; where there is none either, the first one after it (docs/contract.md#value-of-the-ui).
 */
export function selectUiValue(rows: readonly UiValueRow[], year: number): UiValueRow {
  const byYear = rows.toSorted((a, b) => a.year - b.year);
  const row = byYear.findLast((one) => one.year <= year) ?? byYear[0];
  if (!row) throw new RangeError('no UI value is loaded');
  return row;
}
