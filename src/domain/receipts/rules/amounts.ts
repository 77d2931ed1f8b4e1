import Big from 'big.js';
import { amountText } from '../../values/decimal.ts';
import { type CfeRule, type Finding, rule } from '../cfeRule.ts';
import { isVatOf, nonBillable, outsideRates, type PriceReading, type RateReading } from '../cfeTotals.ts';
import type { IvaType } from '../cfeTypes.ts';
import type { VatRate } from '../vat.ts';

const at = (field: string) => ['header', 'totals', field];
/** The largest amount that the format holds. */
const LARGEST = '999999999999999.99';

const KINDS = { minimum: 'MINIMUM_RATE', basic: 'BASIC_RATE' } as const;

/** Describes both readings of a rate's lines: prices without VAT and with VAT. */
function bothReadings({ rate, sum, net, gross }: RateReading): string {
  const lines = `the ${KINDS[rate]} lines add up to ${amountText(sum)}`;
  const without = `if prices exclude VAT: net ${amountText(net.base)}, VAT ${amountText(net.vat)}`;
  return `${lines}; ${without}; if they include it: net ${amountText(gross.base)}, VAT ${amountText(gross.vat)}`;
}

/** Returns the finding of a base that matches neither reading. */
function baseFinding(field: string, reading: RateReading): Finding | undefined {
  const { sent, net, gross } = reading;
  if (sent.base.eq(net.base) || sent.base.eq(gross.base)) return undefined;
  const expected = net.base.eq(gross.base)
    ? `must be ${amountText(net.base)}`
    : `must be ${amountText(net.base)} or ${amountText(gross.base)}`;
  return { at: at(field), words: `${expected} (${bothReadings(reading)}), found ${amountText(sent.base)}.` };
}

/** Returns the finding of a VAT that does not match the sent base or, when the base is wrong too, either reading. */
function vatFinding(field: string, reading: RateReading): Finding | undefined {
  const { sent, net, gross, isNet, isGross } = reading;
  if (isNet || isGross) return undefined;
  const baseIsNet = sent.base.eq(net.base);
  const baseIsGross = sent.base.eq(gross.base);
  const vatIsNet = isVatOf(net, sent.vat);
  const vatIsGross = sent.vat.eq(gross.vat);
  if (!baseIsNet && !baseIsGross && (vatIsNet || vatIsGross)) return undefined;
  const either = baseIsNet === baseIsGross && !net.vat.eq(gross.vat);
  const expectedVat = baseIsGross && !baseIsNet ? gross.vat : net.vat;
  const expected = either ? `${amountText(net.vat)} or ${amountText(gross.vat)}` : amountText(expectedVat);
  return {
    at: at(field),
    words: `must be ${expected} (${bothReadings(reading)}), found ${amountText(sent.vat)}.`,
  };
}

/** The fields of zone A for the base and the VAT of each rate. */
const FIELDS = { minimum: { base: 116, vat: 121 }, basic: { base: 117, vat: 122 } } as const;

const readingsOf = (prices: PriceReading, rate: VatRate) =>
  prices.rates.filter((reading) => reading.rate === rate);

function baseRule(rate: VatRate, field: string, example: string): CfeRule {
  return rule(
    {
      code: `totals.${field}`,
      checks: `The net amount is Σ ${KINDS[rate]} lines or, where prices include VAT, that sum without VAT, rounded half up.`,
      source: `Formato CFE v25.2, zone A, field ${FIELDS[rate].base}; docs/contract.md#net-and-gross-prices`,
      example,
      needs: ['prices'],
    },
    ({ prices }) => readingsOf(prices, rate).flatMap((reading) => baseFinding(field, reading) ?? []),
  );
}

function vatRule(rate: VatRate, field: string, example: string): CfeRule {
  return rule(
    {
      code: `totals.${field}`,
      checks: `The VAT is within 0.01 of net × rate or, where prices include VAT, Σ ${KINDS[rate]} lines − net; 0 for net 0.`,
      source: `Formato CFE v25.2, zone A, field ${FIELDS[rate].vat}; docs/contract.md#net-and-gross-prices`,
      example,
      needs: ['prices'],
    },
    ({ prices }) => readingsOf(prices, rate).flatMap((reading) => vatFinding(field, reading) ?? []),
  );
}

/** The totals that are sums of one kind of line, with their field of zone A. */
const SUM_FIELDS = {
  tax_free_amount: { kind: 'EXEMPT', number: 112 },
  perceived_amount: { kind: 'PERCEIVED', number: 114 },
  suspended_amount: { kind: 'SUSPENDED', number: 115 },
  tax_other_net_amount: { kind: 'OTHER_RATE', number: 118 },
} as const satisfies Record<string, { kind: IvaType; number: number }>;
type SumField = keyof typeof SUM_FIELDS;

const sumRule = (field: SumField, kind: IvaType, number: number): CfeRule =>
  rule(
    {
      code: `totals.${field}`,
      checks: `${field} is the sum of the ${kind} lines, adjusted. Default: 0.`,
      source: `Formato CFE v25.2, zone A, field ${number}`,
      example: `header.totals.${field}: must be 120.00 (the sum of the ${kind} lines), found 100.00.`,
      needs: ['sums', field],
    },
    (parts) => {
      const sum = parts.sums[kind];
      const sent: Big | undefined = parts[field];
      if (sum.eq(sent ?? 0)) return undefined;
      const expected = `must be ${amountText(sum)} (the sum of the ${kind} lines)`;
      return { at: at(field), words: `${expected}, found ${figureText(sent)}.` };
    },
  );

/** Rules that compare the totals with the lines. */
export const amountRules: readonly CfeRule[] = [
  rule(
    {
      code: 'totals.line_count',
      checks: 'line_count is the number of lines.',
      source: 'Formato CFE v25.2, zone A, field 126',
      example: 'header.totals.line_count: must be 1 (the number of lines), found 2.',
      needs: ['line_count', 'details'],
    },
    ({ line_count, details }) => {
      if (line_count === details.length) return undefined;
      return {
        at: at('line_count'),
        words: `must be ${details.length} (the number of lines), found ${line_count}.`,
      };
    },
  ),
  ...Object.entries(SUM_FIELDS).map(([field, { kind, number }]) => sumRule(field as SumField, kind, number)),
  rule(
    {
      code: 'totals.tax_other_amount',
      checks: 'The VAT of OTHER_RATE lines is above 0 if there are any, else 0.',
      source: 'Formato CFE v25.2, zone A, fields 118 and 123',
      example: 'header.totals.tax_other_amount: must be above 0 with OTHER_RATE lines, found none.',
      needs: ['sums', 'tax_other_amount'],
    },
    ({ sums, tax_other_amount }) => {
      const isTaxed = sums.OTHER_RATE.gt(0);
      if (isTaxed === (tax_other_amount ?? Big(0)).gt(0)) return undefined;
      const expected = isTaxed
        ? 'must be above 0 with OTHER_RATE lines'
        : 'must be 0 without OTHER_RATE lines';
      return { at: at('tax_other_amount'), words: `${expected}, found ${figureText(tax_other_amount)}.` };
    },
  ),
  baseRule(
    'minimum',
    'tax_minimum_net_amount',
    'header.totals.tax_minimum_net_amount: must be 100.00 or 90.91 (the MINIMUM_RATE lines add up to 100.00; if prices exclude VAT: net 100.00, VAT 10.00; if they include it: net 90.91, VAT 9.09), found 99.00.',
  ),
  vatRule(
    'minimum',
    'tax_minimum_amount',
    'header.totals.tax_minimum_amount: must be 10.00 (the MINIMUM_RATE lines add up to 100.00; if prices exclude VAT: net 100.00, VAT 10.00; if they include it: net 90.91, VAT 9.09), found 12.00.',
  ),
  baseRule(
    'basic',
    'tax_basic_net_amount',
    'header.totals.tax_basic_net_amount: must be 1000.00 or 819.67 (the BASIC_RATE lines add up to 1000.00; if prices exclude VAT: net 1000.00, VAT 220.00; if they include it: net 819.67, VAT 180.33), found 999.00.',
  ),
  vatRule(
    'basic',
    'tax_basic_amount',
    'header.totals.tax_basic_amount: must be 220.00 (the BASIC_RATE lines add up to 1000.00; if prices exclude VAT: net 1000.00, VAT 220.00; if they include it: net 819.67, VAT 180.33), found 200.00.',
  ),
  rule(
    {
      code: 'totals.prices_mixed',
      checks: 'The prices of one document all exclude VAT or all include it.',
      source: 'docs/contract.md#net-and-gross-prices; Formato CFE v25.2, zone A, field 10',
      example:
        'header.totals: prices must exclude VAT at both rates or include it at both (the MINIMUM_RATE lines add up to 100.00; if prices exclude VAT: net 100.00, VAT 10.00; if they include it: net 90.91, VAT 9.09. The BASIC_RATE lines add up to 1000.00; if prices exclude VAT: net 1000.00, VAT 220.00; if they include it: net 819.67, VAT 180.33), found net 100.00, VAT 10.00 and net 819.67, VAT 180.33.',
      needs: ['prices'],
    },
    ({ prices: { prices, rates } }) => {
      if (prices !== undefined || !rates.every(({ isNet, isGross }) => isNet || isGross)) return undefined;
      const both = rates.map(bothReadings).join('. T').replace('. Tthe', '. The');
      const sent = rates
        .map(({ sent }) => `net ${amountText(sent.base)}, VAT ${amountText(sent.vat)}`)
        .join(' and ');
      const words = `prices must exclude VAT at both rates or include it at both (${both}), found ${sent}.`;
      return { at: ['header', 'totals'], words };
    },
  ),
  rule(
    {
      code: 'totals.total_amount',
      checks: 'total_amount is exactly the sum of all net amounts and VAT.',
      source: 'Formato CFE v25.2, zone A, field 124',
      example:
        'header.totals.total_amount: must be 1220.00 (the sum of all net amounts and VAT), found 1220.01.',
      needs: ['sums', 'prices', 'tax_other_amount', 'total_amount'],
    },
    ({ sums, prices, tax_other_amount, total_amount }) => {
      const others = outsideRates(sums).plus(tax_other_amount ?? 0);
      const candidates = prices.taxed.map((taxed) => others.plus(taxed));
      if (candidates.some((candidate) => candidate.eq(total_amount))) return undefined;
      const expected = candidates.map(amountText).join(' (prices without VAT) or ');
      const amounts = candidates.length > 1 ? `${expected} (prices with VAT)` : expected;
      const sum = 'the sum of all net amounts and VAT';
      const words = `must be ${amounts} (${sum}), found ${amountText(total_amount)}.`;
      return { at: at('total_amount'), words };
    },
  ),
  rule(
    {
      code: 'totals.pay_amount',
      checks:
        'pay_amount is total_amount plus NON_BILLABLE less NON_BILLABLE_NEGATIVE lines; it may be negative.',
      source: 'Formato CFE v25.2, zone A, fields 129 and 130',
      example: 'header.totals.pay_amount: must be 1219.50 (1220.00 and -0.50 not billed), found 1220.00.',
      needs: ['sums', 'expected_total', 'total_amount', 'pay_amount'],
    },
    ({ sums, expected_total, total_amount, pay_amount }) => {
      const total = expected_total ?? total_amount;
      const expected = total.plus(nonBillable(sums));
      if (pay_amount.eq(expected)) return undefined;
      const sum = `${amountText(total)} and ${amountText(nonBillable(sums))} not billed`;
      return {
        at: at('pay_amount'),
        words: `must be ${amountText(expected)} (${sum}), found ${amountText(pay_amount)}.`,
      };
    },
  ),
  rule(
    {
      code: 'totals.non_billable',
      checks: 'Lines that are not billed add up to at most the digits of the format.',
      source: 'Formato CFE v25.2, zone A, field 129',
      example:
        'details: lines that are not billed must add up to at most 999999999999999.99, found 1000000000000000.00.',
      needs: ['sums'],
    },
    ({ sums }) => {
      const sum = nonBillable(sums).abs();
      if (sum.lte(LARGEST)) return undefined;
      const words = `lines that are not billed must add up to at most ${LARGEST}, found ${amountText(sum)}.`;
      return { at: ['details'], words };
    },
  ),
];

const figureText = (figure: Big | undefined) => (figure === undefined ? 'none' : amountText(figure));
