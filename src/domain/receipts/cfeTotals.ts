import Big from 'big.js';
import { roundHalfUp, sumOf } from '../values/decimal.ts';
import { IVA_TYPES, type IvaType } from './cfeTypes.ts';
import type { VatRate, VatRates } from './vat.ts';

/** Decimals of money. Sums are rounded once, half up (docs/authority/amounts.md#rounding). */
export const AMOUNT_DECIMALS = 2;
/** The largest difference of the VAT from base × rate for net prices (docs/contract.md#net-and-gross-prices). */
const VAT_TOLERANCE = Big('0.01');

/** A percentage or an amount. */
export interface PercentOrAmount {
  readonly percent?: Big | undefined;
  readonly amount?: Big | undefined;
}

/** Returns the amount of a measure; a percentage is of `whole`, rounded half up to cents. */
export const amountOf = ({ percent, amount }: PercentOrAmount, whole: Big): Big =>
  percent ? roundHalfUp(whole.times(percent).div(100), AMOUNT_DECIMALS) : (amount ?? Big(0));

/** The fields from which the amount of a line is computed. */
interface LineFigures {
  readonly count: Big;
  readonly unit_price: Big;
  readonly discounts?: readonly PercentOrAmount[] | undefined;
  readonly surcharges?: readonly PercentOrAmount[] | undefined;
}

/**
 * Returns count × unit price rounded half up, less discounts, plus surcharges; percentages are of the exact product (Formato
 * CFE v25.2, zone B, fields 9 to 24).
 */
export function lineAmount({ count, unit_price, discounts = [], surcharges = [] }: LineFigures): Big {
  const product = count.times(unit_price);
  return roundHalfUp(product, AMOUNT_DECIMALS)
    .minus(sumOf(discounts.map((measure) => amountOf(measure, product))))
    .plus(sumOf(surcharges.map((measure) => amountOf(measure, product))));
}

interface TypedLine {
  readonly iva_type: IvaType;
  readonly item_amount: Big;
}
interface TypedAdjustment extends PercentOrAmount {
  readonly kind: 'DISCOUNT' | 'SURCHARGE';
  readonly iva_type: IvaType;
}

/** Σ of the lines and adjustments by kind: S(k) of Formato CFE v25.2, zone A, fields 112 to 129. */
export type LineSums = Readonly<Record<IvaType, Big>>;

/** Returns the sums of the lines by kind, adjusted. */
export function sumsByKind(
  lines: Iterable<TypedLine>,
  adjustments: readonly TypedAdjustment[] = [],
): LineSums {
  const sums = Object.fromEntries(Object.keys(IVA_TYPES).map((kind) => [kind, Big(0)])) as Record<
    IvaType,
    Big
  >;
  for (const { iva_type, item_amount } of lines) sums[iva_type] = sums[iva_type].plus(item_amount);
  const amounts = adjustments.map((adjustment) => amountOf(adjustment, sums[adjustment.iva_type]));
  for (const [index, { kind, iva_type }] of adjustments.entries()) {
    const amount = amounts[index] ?? Big(0);
    sums[iva_type] = kind === 'DISCOUNT' ? sums[iva_type].minus(amount) : sums[iva_type].plus(amount);
  }
  return sums;
}

/** Returns the amounts of adjustments; a percentage is of the lines of the adjustment's kind. */
export function adjustmentAmounts(
  lines: Iterable<TypedLine>,
  adjustments: readonly TypedAdjustment[],
): Big[] {
  const sums = sumsByKind(lines);
  return adjustments.map((adjustment) => amountOf(adjustment, sums[adjustment.iva_type]));
}

/** Returns the billed kinds below zero (Formato CFE v25.2, zone A, fields 112 to 118), with their sums. */
export const overdrawnKinds = (sums: LineSums): [IvaType, Big][] =>
  (Object.entries(sums) as [IvaType, Big][]).filter(
    ([kind, sum]) => !kind.startsWith('NON_BILLABLE') && sum.lt(0),
  );

/** Returns MontoNF: the difference between the amount to pay and the total. */
export const nonBillable = (sums: LineSums): Big => sums.NON_BILLABLE.minus(sums.NON_BILLABLE_NEGATIVE);

/** Taxable base and VAT of one rate. */
export interface Taxed {
  readonly base: Big;
  readonly vat: Big;
}

/** Both readings of the lines of one rate, and whether the sent totals match them. */
export interface RateReading {
  readonly rate: VatRate;
  readonly sum: Big;
  readonly sent: Taxed;
  /** If prices are without VAT. */
  readonly net: Taxed;
  /** If prices include VAT (MntBruto). */
  readonly gross: Taxed;
  readonly isNet: boolean;
  readonly isGross: boolean;
}

/** Returns base and VAT of a rate's lines, by prices without VAT or with it. */
export function taxedOf(sum: Big, percent: Big, prices: 'net' | 'gross'): Taxed {
  if (prices === 'net') return { base: sum, vat: roundHalfUp(sum.times(percent).div(100), AMOUNT_DECIMALS) };
  const base = roundHalfUp(sum.times(100).div(percent.plus(100)), AMOUNT_DECIMALS);
  return { base, vat: sum.minus(base) };
}

/** Reads one rate's lines both ways. Net: base = Σ, VAT ≈ base × rate. Gross: base = Σ / (1 + rate), VAT = Σ − base. */
function readRate(rate: VatRate, percent: Big, sum: Big, sent: Taxed): RateReading {
  const net = taxedOf(sum, percent, 'net');
  const gross = taxedOf(sum, percent, 'gross');
  return {
    rate,
    sum,
    sent,
    net,
    gross,
    isNet: sent.base.eq(net.base) && isVatOf(net, sent.vat),
    isGross: sent.base.eq(gross.base) && sent.vat.eq(gross.vat),
  };
}

/** True when `vat` matches a net base: within the tolerance, and 0 for a base of 0. */
export function isVatOf(net: Taxed, vat: Big): boolean {
  return net.base.eq(0) ? vat.eq(0) : vat.minus(net.vat).abs().lte(VAT_TOLERANCE);
}

/** The reading of a document's prices over all rates. */
export interface PriceReading {
  readonly rates: readonly RateReading[];
  /** Undefined if neither reading matches all rates. */
  readonly prices: 'net' | 'gross' | undefined;
  /** Σ base + VAT of all rates: one value for a known reading, else one for each reading. */
  readonly taxed: readonly Big[];
  /** Sum of the sent bases, without VAT. */
  readonly bases: Big;
}

/** Compares the taxed lines with the sent totals: `net` if all rates match net prices, else `gross` if all match gross ones. */
export function readPrices(
  sums: LineSums,
  percents: VatRates,
  sent: Readonly<Record<VatRate, Taxed>>,
): PriceReading {
  const rates = [
    readRate('minimum', percents.minimum, sums.MINIMUM_RATE, sent.minimum),
    readRate('basic', percents.basic, sums.BASIC_RATE, sent.basic),
  ];
  const prices = rates.every(({ isNet }) => isNet)
    ? 'net'
    : rates.every(({ isGross }) => isGross)
      ? 'gross'
      : undefined;
  const asNet = sumOf(
    rates.map(({ net, sent }) => net.base.plus(isVatOf(net, sent.vat) ? sent.vat : net.vat)),
  );
  const asGross = sumOf(rates.map(({ sum }) => sum));
  const taxed = { net: [asNet], gross: [asGross], neither: asNet.eq(asGross) ? [asNet] : [asNet, asGross] };
  return {
    rates,
    prices,
    taxed: taxed[prices ?? 'neither'],
    bases: sumOf(rates.map(({ sent }) => sent.base)),
  };
}

/** Returns Σ of the amounts outside the two rates: exempt, exported, perceived, suspended, other rate. */
export function outsideRates(sums: LineSums): Big {
  return sumOf([sums.EXEMPT, sums.EXPORT, sums.PERCEIVED, sums.SUSPENDED, sums.OTHER_RATE]);
}
