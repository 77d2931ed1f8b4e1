import Big from 'big.js';
import type { Totals } from './cfeDocument.ts';
import { AMOUNT_DECIMALS } from './cfeTotals.ts';
import { roundHalfUp } from './decimal.ts';

/** What a note comes to, as it was sent. */
export interface NoteAmount {
  readonly pay: Big;
  readonly currency: Totals['currency'];
  readonly exchangeRate: Big;
}

type OriginalTotals = Pick<Totals, 'currency' | 'exchangeRate' | 'pay'>;

/**
 * The note's pay_amount in the currency of the original, over pesos by the rates of both documents; not rounded, so
 * that many notes together come to what they are worth.
 */
export function adjustedAmount({ pay, currency, exchangeRate }: NoteAmount, original: OriginalTotals): Big {
  if (currency === original.currency) return pay;
  return pay.times(exchangeRate).div(original.exchangeRate);
}

/**
 * MntCFEref: what the note takes from the original or adds to it, in the original's currency, from 0 to the
 * original's pay_amount (Formato CFE v25.2, zone F, field 8).
 */
export function referenceAmount(note: NoteAmount, original: OriginalTotals): Big {
  const amount = roundHalfUp(adjustedAmount(note, original), AMOUNT_DECIMALS);
  const most = Big(original.pay);
  const least = amount.lt(most) ? amount : most;
  return least.lt(0) ? Big(0) : least;
}
