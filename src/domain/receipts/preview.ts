import Big from 'big.js';
import { type Checked, checkInput, faultAt } from '../requests/faults.ts';
import { amountText, JsonNumber } from '../values/decimal.ts';
import { tooManyLines } from './cfeReading.ts';
import { OLDER_LAYOUT, PreviewRequest } from './cfeRequest.ts';
import { lineAmount, nonBillable, sumsByKind, taxedOf, untaxed } from './cfeTotals.ts';
import { vatPercents } from './vat.ts';

/** Whether prices exclude VAT or include it. */
export type Prices = 'net' | 'gross';

type Json = Readonly<Record<string, unknown>>;

const number = (amount: Big): JsonNumber => new JsonNumber(Big(amountText(amount)).toFixed());
/** A negative sum already has a fault; 0 avoids a second one. */
const atLeastZero = (amount: Big): Big => (amount.lt(0) ? Big(0) : amount);

/**
 * Returns the body with the amounts of the lines and the totals that it leaves out (docs/contract.md#preview), or the faults of
 * its fields.
 */
export function completeRequest(body: unknown, prices: Prices | undefined): Checked<unknown> {
  const faults = tooManyLines(body);
  if (faults) return { ok: false, faults };
  const checked = checkInput(PreviewRequest, body, { hints: OLDER_LAYOUT });
  if (!checked.ok) return checked;
  const { header, details } = checked.value;
  const lines = details.map((line) => ({
    iva_type: line.iva_type,
    item_amount: line.item_amount ?? atLeastZero(lineAmount(line)),
  }));
  const sums = sumsByKind(lines, header.adjustments);
  const isTaxed = !sums.MINIMUM_RATE.eq(0) || !sums.BASIC_RATE.eq(0);
  if (isTaxed && prices === undefined) {
    const words = 'is required where a line has VAT: net, or gross for prices with VAT.';
    return { ok: false, faults: [faultAt(['prices'], 'preview.prices', words, '/query')] };
  }
  const percents = vatPercents(header.doc_id.emission_date);
  const minimum = taxedOf(sums.MINIMUM_RATE, percents.minimum, prices ?? 'net');
  const basic = taxedOf(sums.BASIC_RATE, percents.basic, prices ?? 'net');
  const total = [
    minimum.base,
    minimum.vat,
    basic.base,
    basic.vat,
    header.totals.tax_other_amount ?? Big(0),
  ].reduce((sum, part) => sum.plus(part), untaxed(sums));
  const computed: Record<string, JsonNumber> = {
    total_amount: number(atLeastZero(total)),
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
  // Figures are kept as they were written.
  const given = body as { header: Json & { totals: Json }; details: Json[] };
  const value = {
    ...given,
    header: { ...given.header, totals: { ...computed, ...given.header.totals } },
    details: lines.map(({ item_amount }, at) => ({
      ...given.details[at],
      item_amount: given.details[at]?.['item_amount'] ?? number(item_amount),
    })),
  };
  return { ok: true, value };
}

const unlessZero = (name: string, amount: Big): Record<string, JsonNumber> =>
  amount.gt(0) ? { [name]: number(amount) } : {};
