import { JsonNumber } from '../../../src/domain/values/decimal.ts';
import { get, type Json, type JsonObject } from './exactJson.ts';

/**
 * The arithmetic of receipts once more, in whole numbers (cents as bigint) and from the format's own words, so that
 * tests do not ask the code under test what is right.
 */

/** A decimal as written, in units of 10^-places. Exact: a remainder is a mistake of the test. */
export function units(number: Json, places: number): bigint {
  if (!(number instanceof JsonNumber)) throw new Error('not a number');
  const [mantissa = '', exponent = '0'] = number.text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) + places - fraction.length;
  const digits = BigInt(whole.replace('-', '') + fraction);
  const scale = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % scale !== 0n) throw new Error(`${number.text} has more than ${places} decimals`);
  const value = shift < 0 ? digits / scale : digits * scale;
  return whole.startsWith('-') ? -value : value;
}

/** Whole units of 10^-places as decimal text with all its places. */
export function decimalText(value: bigint, places: number): string {
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
  const text =
    places === 0
      ? digits
      : `${digits.slice(0, digits.length - places)}.${digits.slice(digits.length - places)}`;
  return value < 0n ? `-${text}` : text;
}

/** a / b, halves upward; for a ≥ 0 and b > 0. */
export const halfUpRatio = (a: bigint, b: bigint): bigint => (2n * a + b) / (2n * b);

/** count (thousandths) × price (millionths) in cents. */
export const lineAmount = (count: bigint, price: bigint): bigint => halfUpRatio(count * price, 10_000_000n);

/** A discount or surcharge in cents: its amount, or so many hundredths of a percent of count × price (10^-9). */
export const measured = (measure: JsonObject, product: bigint): bigint =>
  measure['percent'] === undefined
    ? units(measure['amount'] as Json, 2)
    : halfUpRatio(product * units(measure['percent'], 2), 100_000_000_000n);

const rows = (of: JsonObject, name: string): JsonObject[] => (of[name] as JsonObject[] | undefined) ?? [];

/** The amount of a line in cents, with its discounts and surcharges. */
export function lineCents(line: JsonObject): bigint {
  const [count, price] = [units(get(line, '/count'), 3), units(get(line, '/unit_price'), 6)];
  const sum = (name: string) => rows(line, name).reduce((all, one) => all + measured(one, count * price), 0n);
  return lineAmount(count, price) - sum('discounts') + sum('surcharges');
}

/** The amounts of the adjustments in cents, each of the lines of its kind. */
export function adjustmentCents(body: JsonObject): bigint[] {
  const lines = lineSums(body);
  return rows(body['header'] as JsonObject, 'adjustments').map((one) =>
    one['percent'] === undefined
      ? units(one['amount'] as Json, 2)
      : halfUpRatio((lines[one['iva_type'] as string] ?? 0n) * units(one['percent'], 2), 10_000n),
  );
}

function lineSums(body: JsonObject): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const line of get(body, '/details') as JsonObject[]) {
    const kind = get(line, '/iva_type') as string;
    sums[kind] = (sums[kind] ?? 0n) + lineCents(line);
  }
  return sums;
}

/** Sums by kind, in cents: lines and adjustments. */
function kindSums(body: JsonObject): Record<string, bigint> {
  const sums = lineSums(body);
  const amounts = adjustmentCents(body);
  for (const [at, one] of rows(body['header'] as JsonObject, 'adjustments').entries()) {
    const kind = one['iva_type'] as string;
    sums[kind] = (sums[kind] ?? 0n) + (one['kind'] === 'DISCOUNT' ? -1n : 1n) * (amounts[at] ?? 0n);
  }
  return sums;
}

/** A field of the totals in cents; 0 when it is left out. */
function total(body: JsonObject, field: string): bigint {
  const totals = get(body, '/header/totals') as JsonObject;
  const value = totals[field];
  return value === undefined ? 0n : units(value, 2);
}

/** What the totals of a document come to, in cents, with the VAT that was sent. */
export interface Recomputed {
  gross: boolean;
  exempt: bigint;
  exported: bigint;
  perceived: bigint;
  suspended: bigint;
  otherNet: bigint;
  otherVat: bigint;
  minimumNet: bigint;
  minimumVat: bigint;
  basicNet: bigint;
  basicVat: bigint;
  total: bigint;
  nonBillable: bigint;
  pay: bigint;
}

/** A valid document's totals from its lines; the VAT is as sent where prices are net, and has its tolerance. */
export function recompute(body: JsonObject): Recomputed {
  const sums = kindSums(body);
  const minimum = sums['MINIMUM_RATE'] ?? 0n;
  const basic = sums['BASIC_RATE'] ?? 0n;
  const near = (vat: bigint, base: bigint, percent: bigint) => {
    const off = vat - halfUpRatio(base * percent, 100n);
    return base === 0n ? vat === 0n : off >= -1n && off <= 1n;
  };
  const sentMinimum = total(body, 'tax_minimum_amount');
  const sentBasic = total(body, 'tax_basic_amount');
  const net =
    total(body, 'tax_minimum_net_amount') === minimum &&
    total(body, 'tax_basic_net_amount') === basic &&
    near(sentMinimum, minimum, 10n) &&
    near(sentBasic, basic, 22n);
  const minimumNet = net ? minimum : halfUpRatio(minimum * 100n, 110n);
  const basicNet = net ? basic : halfUpRatio(basic * 100n, 122n);
  const minimumVat = net ? sentMinimum : minimum - minimumNet;
  const basicVat = net ? sentBasic : basic - basicNet;
  const exempt = sums['EXEMPT'] ?? 0n;
  const exported = sums['EXPORT'] ?? 0n;
  const [perceived, suspended, otherNet] = [
    sums['PERCEIVED'] ?? 0n,
    sums['SUSPENDED'] ?? 0n,
    sums['OTHER_RATE'] ?? 0n,
  ];
  const otherVat = total(body, 'tax_other_amount');
  const taxed = minimumNet + minimumVat + basicNet + basicVat + otherNet + otherVat;
  const sum = exempt + exported + perceived + suspended + taxed;
  const nonBillable = (sums['NON_BILLABLE'] ?? 0n) - (sums['NON_BILLABLE_NEGATIVE'] ?? 0n);
  return {
    gross: !net,
    exempt,
    exported,
    perceived,
    suspended,
    otherNet,
    otherVat,
    minimumNet,
    minimumVat,
    basicNet,
    basicVat,
    total: sum,
    nonBillable,
    pay: sum + nonBillable,
  };
}

/** The check digit of a RUT's first eleven digits; undefined when none fits (docs/authority/codes.md#check-digits). */
export function checkDigit(eleven: string): number | undefined {
  const weights = [4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
  const rest = Array.from(eleven).reduce((sum, digit, i) => sum + Number(digit) * (weights[i] ?? 0), 0) % 11;
  if (rest === 1) return undefined;
  return rest === 0 ? 0 : 11 - rest;
}
