import Big from 'big.js';
import { roundHalfUp } from '../../values/decimal.ts';
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

/** Converts an amount of the note to the currency of the original, by both exchange rates. Unrounded, for exact sums. */
function adjustedAmount({ pay, currency, exchangeRate }: NoteAmount, original: Rated): Big {
  if (currency === original.currency) return pay;
  return pay.times(exchangeRate).div(original.exchangeRate);
}

/**
 * What a CFE is worth to credit notes, and what a credit note takes: MntTotal and what is not billed, unless that is below
 * zero. A note in full may repeat a line that is not billed, or leave it out (docs/contract.md#notes).
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

/** Returns what is left of a CFE to credit, in its currency; unrounded where notes were in another one. */
export const leftToCredit = ({ document, credited }: Pick<OriginalCfe, 'document' | 'credited'>): Big =>
  creditable(document.totals).minus(credited);

/** A CFE to take from: at most `most`, or exactly `amount` where that is stated; both in its currency. */
export interface CreditableCfe extends Rated {
  readonly amount?: Big | undefined;
  readonly most: Big;
}

/**
 * Shares out an amount of a note: each place gets what is stated for it, then the others in order up to their most. Returns
 * the parts in the currency of each, unrounded, and in the note's currency the rest, below zero where more is stated.
 */
export function shareOut(note: NoteAmount, places: readonly CreditableCfe[]): { parts: Big[]; rest: Big } {
  const inNote = (part: Big, { currency, exchangeRate }: Rated): Big =>
    currency === note.currency ? part : part.times(exchangeRate).div(note.exchangeRate);
  let rest = places.reduce(
    (left, place) => (place.amount ? left.minus(inNote(place.amount, place)) : left),
    note.pay,
  );
  const parts = places.map((place) => {
    if (place.amount) return place.amount;
    const wanted = adjustedAmount({ ...note, pay: rest.gt(0) ? rest : Big(0) }, place);
    const isEnough = roundHalfUp(wanted.minus(place.most), DIVISION_NOISE_DECIMALS).lte(0);
    const part = isEnough ? wanted : place.most.gt(0) ? place.most : Big(0);
    rest = isEnough && rest.gt(0) ? Big(0) : rest.minus(inNote(part, place));
    return part;
  });
  return { parts, rest };
}
