import Big from 'big.js';
import { roundHalfUp } from '../values/decimal.ts';
import { IVA_TYPES, type IvaType } from './cfeTypes.ts';
import type { VatRate, VatRates } from './vat.ts';

/** Decimals of money. Sums are rounded once, half away from zero (docs/authority/amounts.md#rounding). */
export const AMOUNT_DECIMALS = 2;
/** The largest difference of the VAT from base × rate for net prices (docs/contract.md#net-and-gross-prices). */
const VAT_TOLERANCE = Big('0.01');

/** Σ item_amount by kind of line. */
export type LineSums = Readonly<Record<IvaType, Big>>;

/** Returns the sums of the lines by kind. */
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

/** Reads one rate's lines both ways. Net: base = Σ, VAT ≈ base × rate. Gross: base = Σ / (1 + rate), VAT = Σ − base. */
function readRate(rate: VatRate, percent: Big, sum: Big, sent: Taxed): RateReading {
  const net = { base: sum, vat: roundHalfUp(sum.times(percent).div(100), AMOUNT_DECIMALS) };
  const grossBase = roundHalfUp(sum.times(100).div(percent.plus(100)), AMOUNT_DECIMALS);
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
  /** Taxable bases without VAT as sent. */
  readonly bases: Big;
}

/** Compares the taxed lines with the sent totals: net if all rates match that, else gross if all match that. */
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

/** Returns Σ of the lines without VAT: exempt and exported. */
export function untaxed(sums: LineSums): Big {
  return sums.EXEMPT.plus(sums.EXPORT);
}
