import Big from 'big.js';
import { roundHalfUp, sumOf } from '../../values/decimal.ts';
import type { CfeDocument } from '../cfeDocument.ts';
import { AMOUNT_DECIMALS, taxedOf } from '../cfeTotals.ts';
import { IVA_TYPES, type IvaType } from '../cfeTypes.ts';
import { type VatRate, vatPercents } from '../vat.ts';

/** What a credit note took of one line of its original, stored with the note: figures as in the document. */
export interface CreditedLine {
  readonly line: number;
  readonly count: string;
  readonly amount: string;
}

type Kinds = Readonly<Record<IvaType, Big>>;
type Rates = Readonly<Record<VatRate, Big>>;

/** The figures of a receipt that credit notes divide among themselves; lines by their position. */
export interface Figures {
  readonly counts: readonly Big[];
  readonly amounts: readonly Big[];
  /** Surcharges less discounts of the whole receipt, by kind of line. */
  readonly adjusted: Kinds;
  readonly net: Rates;
  readonly vat: Rates;
  readonly otherVat: Big;
  readonly pay: Big;
}

/** The parts of an original from which its credit notes are computed. */
export type CreditedDocument = Pick<CfeDocument, 'lines' | 'totals' | 'adjustments' | 'pricesIncludeVat'>;

/** A credit note that is not rejected: the lines it took or, if the caller wrote its lines, only its amount. */
export type CountedNote =
  | {
      readonly credited: readonly CreditedLine[];
      readonly document: Pick<CfeDocument, 'totals' | 'adjustments'>;
    }
  | { readonly credited: null; readonly pay: Big };

/** The scope of a note: all that is left, an amount to pay, or parts of lines. */
export type NoteScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'pay'; readonly amount: Big }
  | { readonly kind: 'lines'; readonly counts: readonly Big[]; readonly amounts: readonly Big[] };

const ZERO = Big(0);
const CENT = Big('0.01');
/** Cents around a sum that are searched for a valid share; three always suffice, at both rates. */
const FARTHEST_CENTS = 5;
const KINDS = Object.keys(IVA_TYPES) as IvaType[];
const RATE_KINDS = { minimum: 'MINIMUM_RATE', basic: 'BASIC_RATE' } as const;
const RATES = ['minimum', 'basic'] as const;

const toCents = (amount: Big): Big => roundHalfUp(amount, AMOUNT_DECIMALS);
const atLeast = (least: Big, amount: Big): Big => (amount.lt(least) ? least : amount);
const atMost = (most: Big, amount: Big): Big => (amount.gt(most) ? most : amount);
const byKind = (amountFor: (kind: IvaType) => Big): Kinds =>
  Object.fromEntries(KINDS.map((kind) => [kind, amountFor(kind)])) as Kinds;
const byRate = (amountFor: (rate: VatRate) => Big): Rates => ({
  minimum: amountFor('minimum'),
  basic: amountFor('basic'),
});

function adjustedOf({ adjustments = [] }: Pick<CfeDocument, 'adjustments'>): Kinds {
  return byKind((kind) =>
    sumOf(
      adjustments
        .filter(({ ivaType }) => ivaType === kind)
        .map(({ kind, amount }) => (kind === 'DISCOUNT' ? Big(amount).neg() : Big(amount))),
    ),
  );
}

type Sums = Pick<Figures, 'adjusted' | 'net' | 'vat' | 'otherVat' | 'pay'>;

const sumsOf = (document: Pick<CfeDocument, 'totals' | 'adjustments'>): Sums => {
  const { totals } = document;
  return {
    adjusted: adjustedOf(document),
    net: { minimum: Big(totals.minimumNet), basic: Big(totals.basicNet) },
    vat: { minimum: Big(totals.minimumVat), basic: Big(totals.basicVat) },
    otherVat: Big(totals.otherVat),
    pay: Big(totals.pay),
  };
};

/** Returns the figures of a whole receipt. */
export const figuresOf = (document: CreditedDocument): Figures => ({
  ...sumsOf(document),
  counts: document.lines.map(({ quantity }) => Big(quantity)),
  amounts: document.lines.map(({ amount }) => Big(amount)),
});

function subtract(whole: Figures, taken: Figures): Figures {
  return {
    counts: whole.counts.map((whole, index) => atLeast(ZERO, whole.minus(taken.counts[index] ?? ZERO))),
    amounts: whole.amounts.map((whole, index) => atLeast(ZERO, whole.minus(taken.amounts[index] ?? ZERO))),
    adjusted: byKind((kind) => whole.adjusted[kind].minus(taken.adjusted[kind])),
    net: byRate((rate) => whole.net[rate].minus(taken.net[rate])),
    vat: byRate((rate) => whole.vat[rate].minus(taken.vat[rate])),
    otherVat: whole.otherVat.minus(taken.otherVat),
    pay: whole.pay.minus(taken.pay),
  };
}

/**
 * Returns the figures that notes leave of their original. Notes with lines written by the caller are taken from all lines
 * in proportion, as one amount: their lines may differ from those of the original.
 */
export function figuresLeft(document: CreditedDocument, notes: readonly CountedNote[], on: string): Figures {
  let left = figuresOf(document);
  let freeAmount: Big | undefined;
  for (const note of notes) {
    if (note.credited === null) freeAmount = (freeAmount ?? ZERO).plus(note.pay);
    else
      left = subtract(left, { ...sumsOf(note.document), ...linesOf(note.credited, document.lines.length) });
  }
  if (freeAmount === undefined) return left;
  const scope: NoteScope = freeAmount.gte(left.pay)
    ? { kind: 'all' }
    : { kind: 'pay', amount: atLeast(ZERO, freeAmount) };
  return subtract(left, takeShare(document, left, scope, on).figures);
}

function linesOf(credited: readonly CreditedLine[], length: number): Pick<Figures, 'counts' | 'amounts'> {
  const counts = Array.from({ length }, () => ZERO);
  const amounts = Array.from({ length }, () => ZERO);
  for (const { line, count, amount } of credited) {
    counts[line - 1] = Big(count);
    amounts[line - 1] = Big(amount);
  }
  return { counts, amounts };
}

/** Whether no line has anything left. */
export const isUsedUp = ({ counts, amounts }: Figures): boolean =>
  counts.every((count) => count.eq(0)) && amounts.every((amount) => amount.eq(0));

/** A share of what is left. */
export interface Share {
  readonly figures: Figures;
  /** The amount of a non-billed line that makes the note pay exactly the requested amount. */
  readonly rounding: Big;
}

/**
 * Returns the share that a note of the day `on` takes. Every share leaves a rest that one more note can validly take; with
 * VAT in the prices, a sum may have to differ by cents for this, which `rounding` gives back.
 */
export function takeShare(document: CreditedDocument, left: Figures, scope: NoteScope, on: string): Share {
  const context = { document, left, on };
  if (scope.kind === 'all') return completeShare(context, left, { target: left.pay, isAll: true }).share;
  if (scope.kind === 'lines') return completeShare(context, scope, {}).share;
  const { amount: target } = scope;
  const amounts = proportional(document, left, target);
  let best: CompletedShare | undefined;
  for (const moved of nearbyAmounts(document, left, amounts)) {
    const counts = left.counts.map((count, at) =>
      moved[at]?.gt(0) && moved[at]?.eq(left.amounts[at] ?? ZERO) ? count : ZERO,
    );
    const completed = completeShare(context, { counts, amounts: moved }, { target });
    if (!best || completed.distance.lt(best.distance)) best = completed;
    if (best.distance.eq(0)) break;
  }
  if (!best) throw new Error('no share was tried');
  return best.share;
}

/** Returns each line's part of an amount to pay: sums per kind are rounded, not each line. */
function proportional(document: CreditedDocument, left: Figures, target: Big): Big[] {
  const upTo = new Map<IvaType, Big>();
  return document.lines.map(({ ivaType }, at) => {
    const before = upTo.get(ivaType) ?? ZERO;
    const after = before.plus(left.amounts[at] ?? ZERO);
    upTo.set(ivaType, after);
    const part = (sum: Big) => toCents(sum.times(target).div(left.pay));
    return part(after).minus(part(before));
  });
}

/** Yields the amounts of lines, then variants in which the largest line of one kind differs by some cents. */
function* nearbyAmounts(
  { lines }: CreditedDocument,
  left: Figures,
  amounts: readonly Big[],
): Generator<readonly Big[]> {
  yield amounts;
  for (let cents = 1; cents <= FARTHEST_CENTS; cents += 1) {
    for (const kind of KINDS) {
      for (const by of [CENT.times(cents), CENT.times(-cents)]) {
        let at = -1;
        for (const [index, { ivaType }] of lines.entries()) {
          if (ivaType !== kind) continue;
          const moved = (amounts[index] ?? ZERO).plus(by);
          const room = moved.gte(0) && moved.lte(left.amounts[index] ?? ZERO);
          if (room && (left.amounts[index] ?? ZERO).gt(left.amounts[at] ?? ZERO)) at = index;
        }
        if (at >= 0) yield amounts.with(at, (amounts[at] ?? ZERO).plus(by));
      }
    }
  }
}

interface CompletedShare {
  readonly share: Share;
  /** The difference between the parts and the requested amount. */
  readonly distance: Big;
}

/** A kind of line in a share; `owed`: its sum without the cents that were added to make the VAT valid. */
interface KindRow {
  readonly sum: Big;
  readonly sumLeft: Big;
  readonly adjusted: Big;
  readonly owed: Big;
}

/** Adds the adjustments to the parts of lines, by kind. */
function kindRows(
  { document, left, percents }: { document: CreditedDocument; left: Figures; percents: Rates },
  amounts: readonly Big[],
  isAll: boolean,
): Record<IvaType, KindRow> {
  const sumOfKind = (kind: IvaType, amountsOfLines: readonly Big[]) =>
    sumOf(amountsOfLines.filter((_, index) => document.lines[index]?.ivaType === kind));
  const percentOf = (kind: IvaType) =>
    RATES.filter((rate) => RATE_KINDS[rate] === kind).map((rate) => percents[rate])[0];
  return Object.fromEntries(
    KINDS.map((kind) => {
      const lines = sumOfKind(kind, amounts);
      const linesLeft = sumOfKind(kind, left.amounts);
      const sumLeft = linesLeft.plus(left.adjusted[kind]);
      const complete = isAll || (lines.gt(0) && lines.eq(linesLeft));
      const share = lines.eq(0) ? ZERO : toCents(left.adjusted[kind].times(lines).div(linesLeft));
      const requested = complete ? sumLeft : lines.plus(share);
      const percent = percentOf(kind);
      const sum =
        percent && document.pricesIncludeVat && !complete
          ? nearestSum(requested, sumLeft, percent)
          : requested;
      const isAdjusted = document.adjustments?.some(({ ivaType }) => ivaType === kind) ?? false;
      return [kind, { sum, sumLeft, adjusted: sum.minus(lines), owed: isAdjusted ? sum : lines }];
    }),
  ) as Record<IvaType, KindRow>;
}

/** Adds adjustments and VAT to parts of lines. */
function completeShare(
  { document, left, on }: { document: CreditedDocument; left: Figures; on: string },
  { counts, amounts }: Pick<Figures, 'counts' | 'amounts'>,
  { target, isAll = false }: { target?: Big; isAll?: boolean },
): CompletedShare {
  const percents = vatPercents(on);
  const rows = kindRows({ document, left, percents }, amounts, isAll);
  const taxed = (rate: VatRate) => {
    const { sum, sumLeft } = rows[RATE_KINDS[rate]];
    const percent = percents[rate];
    if (document.pricesIncludeVat) return taxedOf(sum, percent, 'gross');
    return { base: sum, vat: vatOfShare(sum, percent, { base: sumLeft, vat: left.vat[rate] }) };
  };
  const minimum = taxed('minimum');
  const basic = taxed('basic');
  const otherVat = otherVatOfShare(rows.OTHER_RATE, left.otherVat);
  const isGross = document.pricesIncludeVat;
  const vat = isGross ? ZERO : minimum.vat.plus(basic.vat);
  const signed = (kind: IvaType, amount: Big) => (kind === 'NON_BILLABLE_NEGATIVE' ? amount.neg() : amount);
  const parts = sumOf(KINDS.map((kind) => signed(kind, rows[kind].sum)))
    .plus(vat)
    .plus(otherVat);
  const owed = sumOf(KINDS.map((kind) => signed(kind, rows[kind].owed)))
    .plus(vat)
    .plus(otherVat);
  const pay = target ?? owed;
  const rounding = pay.minus(parts);
  const moved = sumOf(KINDS.map((kind) => rows[kind].sum.minus(rows[kind].owed).abs()));
  return {
    share: {
      figures: {
        counts,
        amounts,
        adjusted: byKind((kind) => rows[kind].adjusted),
        net: { minimum: minimum.base, basic: basic.base },
        vat: { minimum: minimum.vat, basic: basic.vat },
        otherVat,
        pay,
      },
      rounding,
    },
    distance: rounding.abs().plus(moved),
  };
}

/**
 * Returns the sum nearest to `requested` whose taxable base, added to the base of the rest, is the base of `left`: with VAT
 * in the prices, the base of a sum must be exact (docs/contract.md#net-and-gross-prices).
 */
function nearestSum(requested: Big, left: Big, percent: Big): Big {
  const baseOf = (sum: Big) => taxedOf(sum, percent, 'gross').base;
  const whole = baseOf(left);
  for (let cents = 0; cents <= FARTHEST_CENTS; cents += 1) {
    for (const sum of [requested.plus(CENT.times(cents)), requested.minus(CENT.times(cents))]) {
      const isPart = sum.gte(0) && sum.lte(left);
      if (
        isPart &&
        baseOf(sum)
          .plus(baseOf(left.minus(sum)))
          .eq(whole)
      )
        return sum;
    }
  }
  return requested;
}

/** Returns the VAT of a net base nearest to the exact VAT that leaves the rest within the tolerance. */
function vatOfShare(base: Big, percent: Big, left: { base: Big; vat: Big }): Big {
  if (base.eq(0)) return ZERO;
  const vatOf = (net: Big) => taxedOf(net, percent, 'net').vat;
  const exact = vatOf(base);
  const rest = left.base.minus(base);
  const [least, most] = rest.gt(0)
    ? [atLeast(ZERO, vatOf(rest).minus(CENT)), vatOf(rest).plus(CENT)]
    : [ZERO, ZERO];
  const possible = atMost(left.vat.minus(least), atLeast(left.vat.minus(most), exact));
  return atLeast(ZERO, atMost(exact.plus(CENT), atLeast(exact.minus(CENT), possible)));
}

/** Returns the VAT of an OTHER_RATE share: above 0 in the share and, where possible, in the rest. */
function otherVatOfShare({ sum, sumLeft }: { sum: Big; sumLeft: Big }, left: Big): Big {
  if (sum.lte(0)) return ZERO;
  if (sum.eq(sumLeft)) return atLeast(CENT, left);
  const share = toCents(left.times(sum).div(sumLeft));
  return atLeast(CENT, atMost(left.minus(CENT), share));
}
