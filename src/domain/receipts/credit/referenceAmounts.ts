import Big from 'big.js';
import { atLeastZero } from '../../values/decimal.ts';
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

/** Returns the most that a document may state for a CFE, in the CFE's currency: the amount left to credit, or its pay_amount. */
export const largestStated = (type: CfeType, original: OriginalCfe): Big =>
  atLeastZero(isCreditNote(type) ? leftToCredit(original) : Big(original.document.totals.pay));

/** Returns the amount that a document takes of a CFE if none is stated: for a debit note all, for others what is left. */
function defaultAmount(type: CfeType, original: OriginalCfe): Big {
  const most = largestStated(type, original);
  if (cfeTypeRow(type).note === 'debit') return most;
  const left = atLeastZero(leftToCredit(original));
  return left.lt(most) ? left : most;
}

/** Shares the worth of a document out over its references. */
export function takenAmounts(parts: Sharing, originals: Originals): { parts: Big[]; rest: Big } {
  const worth = creditable({ total: parts.total_amount, pay: parts.pay_amount });
  return shareOverKnown(worth, parts, (reference) => toCreditableCfe(reference, parts, originals));
}

/** Returns MntCFEref of each reference: from 0 to that CFE's pay_amount (Formato CFE v25.2, zone F, field 8). */
export function statedAmounts(parts: Sharing, originals: Originals, taken: readonly Big[]): Big[] {
  return shareOverKnown(parts.pay_amount, parts, (reference, index) => {
    const cfe = toCreditableCfe(reference, parts, originals);
    const pay = atLeastZero(Big(originals.get(reference.cfeId)?.document.totals.pay ?? 0));
    const most = (taken[index] ?? pay).lt(pay) ? (taken[index] ?? pay) : pay;
    return { ...cfe, most, amount: cfe.amount && (cfe.amount.lt(pay) ? cfe.amount : pay) };
  }).parts;
}

type Known = Extract<Referred, { kind: 'known' }>;

/**
 * Shares an amount out over the CFEs of this service; other references get 0, so that amounts stated for CFEs of other
 * systems cannot hide what is taken from ours.
 */
function shareOverKnown(
  pay: Big,
  { referred, currency, exchange_rate }: Sharing,
  toCfe: (reference: Known, index: number) => CreditableCfe,
): { parts: Big[]; rest: Big } {
  const known = referred.flatMap((reference, index) =>
    reference.kind === 'known' ? [{ index, cfe: toCfe(reference, index) }] : [],
  );
  const shared = shareOut(
    { pay, currency, exchangeRate: exchange_rate },
    known.map(({ cfe }) => cfe),
  );
  const parts = referred.map(() => Big(0));
  for (const [at, { index }] of known.entries()) parts[index] = shared.parts[at] ?? Big(0);
  return { parts, rest: shared.rest };
}

function toCreditableCfe(reference: Known, { cfe_type }: Sharing, originals: Originals): CreditableCfe {
  const original = originals.get(reference.cfeId);
  if (!original) return { currency: 'UYU', exchangeRate: '1', most: Big(0) };
  const { currency, exchangeRate } = original.document.totals;
  return { currency, exchangeRate, amount: reference.amount, most: defaultAmount(cfe_type, original) };
}
