import Big from 'big.js';
import type { Parts } from '../cfeReading.ts';
import type { OriginalCfe } from '../cfeRule.ts';
import { type CfeType, cfeTypeRow } from '../cfeTypes.ts';
import { type CreditableCfe, creditable, leftToCredit, shareOut } from './noteAmount.ts';
import type { Referred } from './referred.ts';

type Originals = ReadonlyMap<string, OriginalCfe>;
type Sharing = Pick<
  Parts,
  'cfe_type' | 'referred' | 'total_amount' | 'pay_amount' | 'currency' | 'exchange_rate'
>;

export const isCreditNote = (type: CfeType): boolean => cfeTypeRow(type).note === 'credit';

const atLeastZero = (amount: Big): Big => (amount.lt(0) ? Big(0) : amount);

/** What a document may state of a CFE, in that one's currency: what is left to credit, or its pay_amount. */
export const largestStated = (type: CfeType, original: OriginalCfe): Big =>
  atLeastZero(isCreditNote(type) ? leftToCredit(original) : Big(original.document.totals.pay));

/** What a document takes of a CFE without a stated amount: a debit note adds to all of it, others take what is left. */
function fillOf(type: CfeType, original: OriginalCfe): Big {
  const most = largestStated(type, original);
  if (cfeTypeRow(type).note === 'debit') return most;
  const left = atLeastZero(leftToCredit(original));
  return left.lt(most) ? left : most;
}

/** Shares out what a document is worth over its references. */
export function takenAmounts(parts: Sharing, originals: Originals): { parts: Big[]; rest: Big } {
  const worth = creditable({ total: parts.total_amount, pay: parts.pay_amount });
  return shareOverKnown(worth, parts, (one) => placeOf(one, parts, originals));
}

/** Returns MntCFEref of each reference: from 0 to that CFE's pay_amount (Formato CFE v25.2, zone F, field 8). */
export function statedAmounts(parts: Sharing, originals: Originals, taken: readonly Big[]): Big[] {
  return shareOverKnown(parts.pay_amount, parts, (one, index) => {
    const place = placeOf(one, parts, originals);
    const pay = atLeastZero(Big(originals.get(one.cfeId)?.document.totals.pay ?? 0));
    const most = (taken[index] ?? pay).lt(pay) ? (taken[index] ?? pay) : pay;
    return { ...place, most, amount: place.amount && (place.amount.lt(pay) ? place.amount : pay) };
  }).parts;
}

type Known = Extract<Referred, { kind: 'known' }>;

/**
 * Shares an amount out over the CFEs of this service; other references get 0. What is stated for those of other systems
 * must not hide what is taken of ours.
 */
function shareOverKnown(
  pay: Big,
  { referred, currency, exchange_rate }: Sharing,
  placeAt: (one: Known, index: number) => CreditableCfe,
): { parts: Big[]; rest: Big } {
  const places = referred.flatMap((one, index) =>
    one.kind === 'known' ? [{ index, place: placeAt(one, index) }] : [],
  );
  const shared = shareOut(
    { pay, currency, exchangeRate: exchange_rate },
    places.map(({ place }) => place),
  );
  const parts = referred.map(() => Big(0));
  for (const [at, { index }] of places.entries()) parts[index] = shared.parts[at] ?? Big(0);
  return { parts, rest: shared.rest };
}

function placeOf(one: Known, { cfe_type }: Sharing, originals: Originals): CreditableCfe {
  const original = originals.get(one.cfeId);
  if (!original) return { currency: 'UYU', exchangeRate: '1', most: Big(0) };
  const { currency, exchangeRate } = original.document.totals;
  return { currency, exchangeRate, amount: one.amount, most: fillOf(cfe_type, original) };
}
