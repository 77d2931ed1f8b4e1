import Big from 'big.js';
import { type Checked, checkInput, faultAt } from '../requests/faults.ts';
import { amountText, atLeastZero, JsonNumber, sumOf } from '../values/decimal.ts';
import { tooManyLines } from './cfeReading.ts';
import { OLDER_LAYOUT, PreviewRequest } from './cfeRequest.ts';
import { lineAmount, nonBillable, outsideRates, sumsByKind, taxedOf } from './cfeTotals.ts';
import { vatPercents } from './vat.ts';

/** Whether prices exclude VAT or include it. */
export type Prices = 'net' | 'gross';

type Json = Readonly<Record<string, unknown>>;

const toJsonNumber = (amount: Big): JsonNumber => new JsonNumber(Big(amountText(amount)).toFixed());
/**
 * Returns the body with the omitted amounts of lines and totals computed (docs/contract.md#preview), or the faults of its
 * fields.
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
    const words = 'is required for lines with VAT: net, or gross if prices include it.';
    return { ok: false, faults: [faultAt(['prices'], 'preview.prices', words, '/query')] };
  }
  const percents = vatPercents(header.doc_id.emission_date);
  const minimum = taxedOf(sums.MINIMUM_RATE, percents.minimum, prices ?? 'net');
  const basic = taxedOf(sums.BASIC_RATE, percents.basic, prices ?? 'net');
  const otherVat = header.totals.tax_other_amount ?? Big(0);
  const total = sumOf([minimum.base, minimum.vat, basic.base, basic.vat, otherVat, outsideRates(sums)]);
  const computed: Record<string, JsonNumber> = {
    // A negative sum already has a fault; 0 avoids a second one.
    total_amount: toJsonNumber(atLeastZero(total)),
    pay_amount: toJsonNumber(total.plus(nonBillable(sums))),
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
  // Keeps the sent figures as they were written.
  const sent = body as { header: Json & { totals: Json }; details: Json[] };
  const value = {
    ...sent,
    header: { ...sent.header, totals: { ...computed, ...sent.header.totals } },
    details: lines.map(({ item_amount }, at) => ({
      ...sent.details[at],
      item_amount: sent.details[at]?.['item_amount'] ?? toJsonNumber(item_amount),
    })),
  };
  return { ok: true, value };
}

const unlessZero = (name: string, amount: Big): Record<string, JsonNumber> =>
  amount.gt(0) ? { [name]: toJsonNumber(amount) } : {};
