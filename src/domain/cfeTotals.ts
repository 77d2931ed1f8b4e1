import Big from 'big.js';
import { IVA_TYPES, type IvaType } from './cfeTypes.ts';
import { halfUp } from './decimal.ts';
import type { VatRate, VatRates } from './vat.ts';

/**
 * Decimals of money. Rounding is half away from zero, once, on the document's sums
 * (docs/authority/amounts.md#rounding).
 */
export const AMOUNT_DECIMALS = 2;
/**
 * How far the VAT may stand from base × rate where prices are net (docs/contract.md#net-and-gross-prices). All else is
 * exact.
 */
const VAT_TOLERANCE = Big('0.01');

/** Σ item_amount by kind of line. */
export type LineSums = Readonly<Record<IvaType, Big>>;

/** The sums of the lines by kind. */
export function sumsByKind(
  lines: Iterable<{ readonly iva_type: IvaType; readonly item_amount: Big }>,
): LineSums {
  const sums = Object.fromEntries(Object.keys(IVA_TYPES).map((kind) => [kind, Big(0)])) as Record<
    IvaType,
    Big
  >;
  for (const { iva_type, item_amount } of lines) sums[iva_type] = sums[iva_type].plus(item_amount);
  return sums;
}

/** Taxable base and VAT of one rate. */
export interface Taxed {
  readonly base: Big;
  readonly vat: Big;
}

/** How the lines of one rate can be read, and whether what was sent agrees. */
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

/** One rate's lines, read both ways: net, base = Σ and VAT near base × rate; gross, base = Σ / (1 + rate), VAT the rest. */
function readRate(rate: VatRate, percent: Big, sum: Big, sent: Taxed): RateReading {
  const net = { base: sum, vat: halfUp(sum.times(percent).div(100), AMOUNT_DECIMALS) };
  const grossBase = halfUp(sum.times(100).div(percent.plus(100)), AMOUNT_DECIMALS);
  const gross = { base: grossBase, vat: sum.minus(grossBase) };
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

/** Whether `vat` passes as the VAT of a net base: within the tolerance, and none where there is no base. */
export function isVatOf(net: Taxed, vat: Big): boolean {
  return net.base.eq(0) ? vat.eq(0) : vat.minus(net.vat).abs().lte(VAT_TOLERANCE);
}

/** What the totals say of a document's prices, all rates together. */
export interface PriceReading {
  readonly rates: readonly RateReading[];
  /** Undefined where neither reading fits all rates. */
  readonly prices: 'net' | 'gross' | undefined;
  /** Σ base + VAT of all rates: as sent where the reading is known, else by either reading. */
  readonly taxed: readonly Big[];
  /** Taxable bases without VAT as sent. */
  readonly bases: Big;
}

/** Reads the taxed lines against the totals sent: net where all rates fit it, else gross where all fit that. */
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
  const add = (figures: Big[]) => figures.reduce((total, figure) => total.plus(figure), Big(0));
  const asNet = add(rates.map(({ net, sent }) => net.base.plus(isVatOf(net, sent.vat) ? sent.vat : net.vat)));
  const asGross = add(rates.map(({ sum }) => sum));
  const taxed = { net: [asNet], gross: [asGross], neither: asNet.eq(asGross) ? [asNet] : [asNet, asGross] };
  return { rates, prices, taxed: taxed[prices ?? 'neither'], bases: add(rates.map(({ sent }) => sent.base)) };
}

/** Σ of the lines without VAT: exempt and exported. */
export function untaxed(sums: LineSums): Big {
  return sums.EXEMPT.plus(sums.EXPORT);
}
