import Big from 'big.js';
import { roundHalfUp } from '../values/decimal.ts';
import type { CfeDocument, Totals } from './cfeDocument.ts';
import { AMOUNT_DECIMALS } from './cfeTotals.ts';

/** The amount of a note, as sent. */
export interface NoteAmount {
  readonly pay: Big;
  readonly currency: Totals['currency'];
  readonly exchangeRate: Big;
}

type OriginalTotals = Pick<Totals, 'currency' | 'exchangeRate' | 'pay'>;

/** Converts the note's pay_amount to the currency of the original, by both exchange rates. Unrounded, for exact sums. */
export function adjustedAmount({ pay, currency, exchangeRate }: NoteAmount, original: OriginalTotals): Big {
  if (currency === original.currency) return pay;
  return pay.times(exchangeRate).div(original.exchangeRate);
}

/**
 * Returns MntCFEref: the amount that the note subtracts from the original or adds to it, in the original's currency, from
 * 0 to the original's pay_amount (Formato CFE v25.2, zone F, field 8).
 */
export function referenceAmount(note: NoteAmount, original: OriginalTotals): Big {
  const amount = roundHalfUp(adjustedAmount(note, original), AMOUNT_DECIMALS);
  const most = Big(original.pay);
  const least = amount.lt(most) ? amount : most;
  return least.lt(0) ? Big(0) : least;
}

/**
 * Returns the most that all credit notes of a receipt may add up to: its pay_amount without what its NON_BILLABLE_NEGATIVE
 * lines took off, which a note need not repeat.
 */
export function creditableAmount({
  lines,
  adjustments = [],
  totals,
}: Pick<CfeDocument, 'lines' | 'adjustments' | 'totals'>): Big {
  const isNegative = ({ ivaType }: { ivaType: string }) => ivaType === 'NON_BILLABLE_NEGATIVE';
  const signed = [
    ...lines.filter(isNegative).map(({ amount }) => Big(amount)),
    ...adjustments
      .filter(isNegative)
      .map(({ kind, amount }) => (kind === 'DISCOUNT' ? Big(amount).neg() : Big(amount))),
  ];
  const off = signed.reduce((sum, amount) => sum.plus(amount), Big(0));
  return off.gt(0) ? Big(totals.pay).plus(off) : Big(totals.pay);
}
