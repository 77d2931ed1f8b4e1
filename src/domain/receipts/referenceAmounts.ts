import Big from 'big.js';
import type { Parts } from './cfeReading.ts';
import type { OriginalCfe } from './cfeRule.ts';
import { type CfeType, cfeTypeRow } from './cfeTypes.ts';
import { leftToCredit, type Place, shareOut, worthOf } from './noteAmount.ts';
import type { Referred } from './referred.ts';

type Originals = ReadonlyMap<string, OriginalCfe>;
type Sharing = Pick<
  Parts,
  'cfe_type' | 'referred' | 'total_amount' | 'pay_amount' | 'currency' | 'exchange_rate'
>;

export const isCreditNote = (type: CfeType): boolean => cfeTypeRow(type).note === 'credit';

const atLeastZero = (amount: Big): Big => (amount.lt(0) ? Big(0) : amount);

/** What a document may state of a CFE, in that one's currency: what is left to credit, or its pay_amount. */
export const mostOf = (type: CfeType, original: OriginalCfe): Big =>
  atLeastZero(isCreditNote(type) ? leftToCredit(original) : Big(original.document.totals.pay));

/** What a document takes of a CFE without a stated amount: a debit note adds to all of it, others take what is left. */
function fillOf(type: CfeType, original: OriginalCfe): Big {
  const most = mostOf(type, original);
  if (cfeTypeRow(type).note === 'debit') return most;
  const left = atLeastZero(leftToCredit(original));
  return left.lt(most) ? left : most;
}

/** Shares out what a document is worth over its references; a reference without an amount of its own takes nothing. */
export function takenAmounts(parts: Sharing, originals: Originals): { parts: Big[]; rest: Big } {
  const worth = worthOf({ total: parts.total_amount, pay: parts.pay_amount });
  return shareOut(
    { pay: worth, currency: parts.currency, exchangeRate: parts.exchange_rate },
    parts.referred.map((one) => placeOf(one, parts, originals)),
  );
}

/** Returns MntCFEref of each reference: from 0 to that CFE's pay_amount (Formato CFE v25.2, zone F, field 8). */
export function statedAmounts(parts: Sharing, originals: Originals, taken: readonly Big[]): Big[] {
  const places = parts.referred.map((one, index): Place => {
    const place = placeOf(one, parts, originals);
    if (one.kind !== 'known') return place;
    const pay = atLeastZero(Big(originals.get(one.cfeId)?.document.totals.pay ?? 0));
    const most = (taken[index] ?? pay).lt(pay) ? (taken[index] ?? pay) : pay;
    return { ...place, most, amount: place.amount && (place.amount.lt(pay) ? place.amount : pay) };
  });
  return shareOut(
    { pay: parts.pay_amount, currency: parts.currency, exchangeRate: parts.exchange_rate },
    places,
  ).parts;
}

const PESOS = { currency: 'UYU', exchangeRate: '1' } as const;

function placeOf(one: Referred, { cfe_type }: Sharing, originals: Originals): Place {
  const original = one.kind === 'known' ? originals.get(one.cfeId) : undefined;
  if (original && one.kind === 'known') {
    const { currency, exchangeRate } = original.document.totals;
    return { currency, exchangeRate, amount: one.amount, most: fillOf(cfe_type, original) };
  }
  if (one.kind === 'foreign' && one.value) {
    const { amount, currency, exchangeRate } = one.value;
    return { currency, exchangeRate: exchangeRate.toFixed(), amount, most: amount };
  }
  return { ...PESOS, most: Big(0) };
}
