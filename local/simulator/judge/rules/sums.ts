import Big from 'big.js';
import type { ParsedReceipt } from '../reading.ts';

/** The exact sum of amounts. */
export const sumOf = (amounts: readonly Big[]): Big =>
  amounts.reduce((sum, one) => sum.plus(one), new Big(0));

/**
 * S(k): the lines of an IndFact less its global discounts, plus its global surcharges
 * (docs/authority/amounts.md#sums).
 */
export function sumOfLines(receipt: ParsedReceipt, indFact: number): Big {
  const lines = receipt.items
    .filter((item) => item.text('IndFact') === String(indFact))
    .map((item) => item.amount('MontoItem'));
  const moves = receipt.globals
    .filter((row) => row.text('IndFactDR') === String(indFact))
    .map((row) => (row.text('TpoMovDR') === 'D' ? row.amount('ValorDR').neg() : row.amount('ValorDR')));
  return sumOf([...lines, ...moves]);
}

/** Rounded half-up to cents. */
export const toCents = (amount: Big): Big => amount.round(2, Big.roundHalfUp);
