import Big from 'big.js';
import type { ReceiptPaper } from '../reading.ts';

/** The exact sum of amounts. */
export const sumOf = (amounts: readonly Big[]): Big =>
  amounts.reduce((sum, one) => sum.plus(one), new Big(0));

/** S(k): the lines of an IndFact less global discounts and plus global surcharges on it (cfe-format.md §3). */
export function sumOfLines(paper: ReceiptPaper, indFact: number): Big {
  const lines = paper.items
    .filter((item) => item.text('IndFact') === String(indFact))
    .map((item) => item.amount('MontoItem'));
  const moves = paper.globals
    .filter((row) => row.text('IndFactDR') === String(indFact))
    .map((row) => (row.text('TpoMovDR') === 'D' ? row.amount('ValorDR').neg() : row.amount('ValorDR')));
  return sumOf([...lines, ...moves]);
}

/** Half-up to cents. */
export const toCents = (amount: Big): Big => amount.round(2, Big.roundHalfUp);
