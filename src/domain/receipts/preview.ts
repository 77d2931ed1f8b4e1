import Big from 'big.js';
import type { Fault } from '../../errors.ts';
import { checkInput, faultAt } from '../requests/faults.ts';
import { amountText, JsonNumber } from '../values/decimal.ts';
import { RequestAdjustments, RequestLine, RequestTotals } from './cfeRequest.ts';
import { AMOUNT_DECIMALS, lineAmount, nonBillable, sumsByKind, taxedOf, untaxed } from './cfeTotals.ts';
import { vatPercents } from './vat.ts';

/** Whether prices exclude VAT or include it. */
export type Prices = 'net' | 'gross';

type Json = Readonly<Record<string, unknown>>;

/** A completed body, or the faults that keep it from being completed; those of the rest are found by the rules. */
export type Completed = { readonly body: unknown } | { readonly faults: readonly Fault[] };

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);

const number = (amount: Big): JsonNumber => new JsonNumber(Big(amountText(amount)).toFixed());

/** What the amount of a line is computed from, and its kind. */
const Figures = RequestLine.pick({
  iva_type: true,
  count: true,
  unit_price: true,
  discounts: true,
  surcharges: true,
}).strip();

/**
 * Fills in the amounts of the lines and the totals that a request leaves out (docs/contract.md#preview). Returns an incomplete
 * body as it is where its figures are missing or wrong, for the rules to say so. `today`: in Montevideo.
 */
export function completeRequest(
  body: unknown,
  { prices, today }: { prices: Prices | undefined; today: string },
): Completed {
  if (!isObject(body) || !Array.isArray(body['details']) || !isObject(body['header'])) return { body };
  const header = body['header'];
  const totals = header['totals'];
  if (!isObject(totals)) return { body };
  const details = (body['details'] as unknown[]).map(completeLine);
  const incomplete = { ...body, details };
  const lines = details.map((line) =>
    checkInput(RequestLine.pick({ iva_type: true, item_amount: true }).strip(), line),
  );
  const adjustments = checkInput(RequestAdjustments.optional(), header['adjustments']);
  const otherVat = checkInput(RequestTotals.shape.tax_other_amount, totals['tax_other_amount']);
  if (!adjustments.ok || !otherVat.ok || lines.some(({ ok }) => !ok)) return { body: incomplete };

  const sums = sumsByKind(
    lines.flatMap((line) => (line.ok ? [line.value] : [])),
    adjustments.value,
  );
  const isTaxed = !sums.MINIMUM_RATE.eq(0) || !sums.BASIC_RATE.eq(0);
  if (isTaxed && prices === undefined) {
    const words = 'is required where a line has VAT: net, or gross for prices with VAT.';
    return { faults: [faultAt(['prices'], 'preview.prices', words, '/query')] };
  }
  const percents = vatPercents(dateOf(header, today));
  const minimum = taxedOf(sums.MINIMUM_RATE, percents.minimum, prices ?? 'net');
  const basic = taxedOf(sums.BASIC_RATE, percents.basic, prices ?? 'net');
  const total = [minimum.base, minimum.vat, basic.base, basic.vat, otherVat.value ?? Big(0)].reduce(
    (sum, part) => sum.plus(part),
    untaxed(sums),
  );
  const computed: Record<string, JsonNumber> = {
    total_amount: number(total),
    pay_amount: number(total.plus(nonBillable(sums))),
    line_count: new JsonNumber(String(details.length)),
    ...unlessZero('tax_free_amount', sums.EXEMPT),
    ...unlessZero('tax_minimum_net_amount', minimum.base),
    ...unlessZero('tax_minimum_amount', minimum.vat),
    ...unlessZero('tax_basic_net_amount', basic.base),
    ...unlessZero('tax_basic_amount', basic.vat),
    ...unlessZero('tax_other_net_amount', sums.OTHER_RATE),
    ...unlessZero('perceived_amount', sums.PERCEIVED),
    ...unlessZero('suspended_amount', sums.SUSPENDED),
  };
  return { body: { ...incomplete, header: { ...header, totals: { ...computed, ...totals } } } };
}

const unlessZero = (name: string, amount: Big): Record<string, JsonNumber> =>
  amount.eq(0) ? {} : { [name]: number(amount) };

/** Adds the amount to a line that leaves it out. */
function completeLine(line: unknown): unknown {
  if (!isObject(line) || line['item_amount'] !== undefined) return line;
  const figures = checkInput(Figures, line);
  if (!figures.ok) return line;
  const amount = lineAmount(figures.value);
  return amount.lt(0) ? line : { ...line, item_amount: number(amount.round(AMOUNT_DECIMALS)) };
}

function dateOf(header: Json, today: string): string {
  const docId = header['doc_id'];
  const date = isObject(docId) ? docId['emission_date'] : undefined;
  return typeof date === 'string' && /^20\d\d-\d\d-\d\d$/.test(date) ? date : today;
}
