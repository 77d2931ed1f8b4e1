import Big from 'big.js';
import { atLeastZero, roundHalfUp } from '../../values/decimal.ts';
import type { Totals } from '../cfeDocument.ts';
import type { OriginalCfe } from '../cfeRule.ts';

/** Differences beyond this many decimals are rounding noise of a division, not money. */
export const DIVISION_NOISE_DECIMALS = 8;

/** An amount of a note, in its currency. */
export interface NoteAmount {
  readonly pay: Big;
  readonly currency: Totals['currency'];
  readonly exchangeRate: Big;
}

type Rated = Pick<Totals, 'currency' | 'exchangeRate'>;

/** Converts an amount of a note to the original's currency by both exchange rates, unrounded for exact sums. */
function convertToOriginal({ pay, currency, exchangeRate }: NoteAmount, original: Rated): Big {
  if (currency === original.currency) return pay;
  return pay.times(exchangeRate).div(original.exchangeRate);
}

/**
 * Returns the worth of a CFE for credit notes, and the amount that a credit note takes: MntTotal or MntPagar, the greater.
 * A note for the whole CFE may repeat its non-billed lines or leave them out (docs/contract.md#notes).
 */
export function creditable({
  total,
  pay,
}: {
  readonly total: Big | string;
  readonly pay: Big | string;
}): Big {
  return Big(total).gt(pay) ? Big(total) : Big(pay);
}

/** Returns the amount of a CFE that is left to credit, in its currency; unrounded if notes were in another currency. */
export const leftToCredit = ({ document, credited }: Pick<OriginalCfe, 'document' | 'credited'>): Big =>
  creditable(document.totals).minus(credited);

/** A CFE to take from: exactly `amount` if stated, else at most `most`; both in the currency of that CFE. */
export interface CreditableCfe extends Rated {
  readonly amount?: Big | undefined;
  readonly most: Big;
}

/**
 * Shares an amount of a note out over CFEs: first the stated amounts, then the other CFEs in order up to their most.
 * Returns the unrounded parts, each in its CFE's currency, and the rest in the note's, negative if more was stated.
 */
export function shareOut(note: NoteAmount, cfes: readonly CreditableCfe[]): { parts: Big[]; rest: Big } {
  const inNote = (part: Big, { currency, exchangeRate }: Rated): Big =>
    currency === note.currency ? part : part.times(exchangeRate).div(note.exchangeRate);
  let rest = cfes.reduce((left, cfe) => (cfe.amount ? left.minus(inNote(cfe.amount, cfe)) : left), note.pay);
  const parts = cfes.map((cfe) => {
    if (cfe.amount) return cfe.amount;
    const wanted = convertToOriginal({ ...note, pay: atLeastZero(rest) }, cfe);
    const isEnough = roundHalfUp(wanted.minus(cfe.most), DIVISION_NOISE_DECIMALS).lte(0);
    const part = isEnough ? wanted : atLeastZero(cfe.most);
    rest = isEnough && rest.gt(0) ? Big(0) : rest.minus(inNote(part, cfe));
    return part;
  });
  return { parts, rest };
}
