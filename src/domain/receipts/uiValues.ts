import Big from 'big.js';

/** An e-Ticket above this many indexed units (UI), net of VAT, must identify its receiver (table E, since 2022-11-01). */
export const IDENTIFICATION_UI = 5000;

/** Pesos of one UI for a year: the value of 31 December of the year before (docs/contract.md#value-of-the-ui). */
export interface UiValueRow {
  readonly year: number;
  /** Decimal text. */
  readonly value: string;
  readonly estimate: boolean;
}

/** Returns the reason for a warning when a row is used for `year`: an estimate, or another year's value. */
function uiValueWarning(row: UiValueRow, year: number): 'estimate' | 'other year' | undefined {
  if (row.year !== year) return 'other year';
  return row.estimate ? 'estimate' : undefined;
}

/** From this day, `MM-DD`, a missing value of the next year is reported. */
const NEXT_YEAR_FROM = '12-01';

/** A year whose limit is not exact, with the reason. */
interface UiValueStandIn {
  readonly year: number;
  readonly why: 'estimate' | 'other year' | 'none';
}

/** Returns the years without an exact value of their own: the year of `today` (Montevideo), and the next from 1 December on. */
export function yearsWithoutExactUi(rows: readonly UiValueRow[], today: string): UiValueStandIn[] {
  const year = Number(today.slice(0, 4));
  const years = today.slice(5) >= NEXT_YEAR_FROM ? [year, year + 1] : [year];
  return years.flatMap((each) => {
    const why = rows.length === 0 ? 'none' : uiValueWarning(selectUiValue(rows, each), each);
    return why ? [{ year: each, why }] : [];
  });
}

/** Returns the limit in pesos above which an e-Ticket must identify its receiver, unrounded. */
export function identificationLimit(row: UiValueRow): Big {
  return Big(row.value).times(IDENTIFICATION_UI);
}

/**
 * Returns the row for `year`, by the same rule as for issuing: that year's row, else the last earlier one, else the first
 * later one (docs/contract.md#value-of-the-ui). Throws RangeError without rows.
 */
export function selectUiValue(rows: readonly UiValueRow[], year: number): UiValueRow {
  const byYear = rows.toSorted((a, b) => a.year - b.year);
  const row = byYear.findLast((candidate) => candidate.year <= year) ?? byYear[0];
  if (!row) throw new RangeError('no UI value is loaded');
  return row;
}
