import Big from 'big.js';
import * as z from 'zod';
import type { Fault } from '../../../errors.ts';
import { type Checked, faultAt } from '../../requests/faults.ts';
import { CREDIT_WORDS, describeField } from '../../requests/fieldWords.ts';
import {
  amountSchema,
  amountText,
  decimalSchema,
  integerSchema,
  JsonNumber,
  quantityText,
  sumOf,
} from '../../values/decimal.ts';
import { addIssue } from '../../values/issue.ts';
import { LENGTHS } from '../../values/lengths.ts';
import { textSchema } from '../../values/text.ts';
import { omitUndefined } from '../cfeContent.ts';
import type { Adjustment, CfeDocument, Line, LineAdjustment, Receiver } from '../cfeDocument.ts';
import { DocId, requireOneOf } from '../cfeRequest.ts';
import type { CfeStatus } from '../cfeStatus.ts';
import { amountOf } from '../cfeTotals.ts';
import { CFE_TYPE_NAMES, type CfeType, cfeTypeRow, type IvaType } from '../cfeTypes.ts';
import {
  type CreditedDocument,
  type CreditedLine,
  type Figures,
  figuresOf,
  isUsedUp,
  type NoteScope,
  takeShare,
} from './creditLeft.ts';
import { creditable } from './noteAmount.ts';

const MOST_LINES = 700;
const ZERO = Big(0);
/** Text on the note, in the language of receipts. */
const ROUNDING = 'Redondeo';
const SEVERAL_ADJUSTMENTS = 'Descuentos y recargos';

const CreditLine = z
  .strictObject({
    line_number: integerSchema({ minimum: 1, maximum: MOST_LINES }).meta(
      describeField(CREDIT_WORDS.line_number),
    ),
    count: decimalSchema({ integerDigits: 14, decimals: 3 })
      .meta(describeField(CREDIT_WORDS.count))
      .optional(),
    amount: amountSchema().meta(describeField(CREDIT_WORDS.line_amount)).optional(),
  })
  .superRefine(requireOneOf('count', 'amount'))
  .meta({ id: 'CreditLine', description: 'A part of a line: a count, or an amount.' });

/** The body of POST …/cfes/{cfe_id}/credit-notes. */
export const CreditRequest = z
  .strictObject({
    emission_date: DocId.shape.emission_date.optional(),
    payment_method: DocId.shape.payment_method.optional(),
    reason: textSchema(LENGTHS.referenceReason).meta(describeField(CREDIT_WORDS.reason)),
    lines: z
      .array(CreditLine)
      .min(1)
      .max(MOST_LINES)
      .meta({ description: 'Parts of lines; each line once.' })
      .optional(),
    percent: decimalSchema({ integerDigits: 3, decimals: 2 })
      .meta(describeField(CREDIT_WORDS.percent))
      .optional(),
    amount: amountSchema().meta(describeField(CREDIT_WORDS.amount)).optional(),
  })
  .superRefine((request, ctx) => {
    const scopes = (['lines', 'percent', 'amount'] as const).filter((name) => request[name] !== undefined);
    if (scopes.length < 2) return;
    addIssue(
      ctx,
      'body.one_of',
      `must have at most one of lines, percent and amount, found ${scopes.join(' and ')}.`,
    );
  })
  .meta({
    id: 'CreditRequest',
    description: 'What a credit note takes: lines, a percentage, an amount, or all that is left.',
  });
export type CreditRequest = z.output<typeof CreditRequest>;

/** Returns the type of the credit notes for a type; undefined for credit notes themselves. */
export function creditNoteType(type: CfeType): CfeType | undefined {
  const { family, note } = cfeTypeRow(type);
  if (note === 'credit') return undefined;
  return CFE_TYPE_NAMES.find(
    (name) => cfeTypeRow(name).family === family && cfeTypeRow(name).note === 'credit',
  );
}

/** Returns whether credit notes may correct a CFE: neither a credit note itself, nor REJECTED. */
export const isCreditable = ({ type, status }: { type: CfeType; status: CfeStatus }): boolean =>
  creditNoteType(type) !== undefined && status !== 'REJECTED';

const refuse = (path: readonly (string | number)[], code: string, words: string) => ({
  ok: false as const,
  faults: [faultAt(path, code, words)],
});

/** Returns the scope that a request takes of the figures left on the day `on`, or the faults of the request. */
export function readNoteScope(
  request: Pick<CreditRequest, 'lines' | 'percent' | 'amount'>,
  document: CreditedDocument,
  left: Figures,
  on: string,
): Checked<NoteScope> {
  const { lines, percent, amount } = request;
  if (isUsedUp(left)) return refuse([], 'credit.nothing_left', 'Nothing of the receipt is left to credit.');
  if (lines) return readLinesWithin(lines, document, left, on);
  if (percent === undefined && amount === undefined) return { ok: true, value: { kind: 'all' } };
  const name = percent ? 'percent' : 'amount';
  const requested = amountOf({ percent, amount }, Big(document.totals.pay));
  const { currency } = document.totals;
  if (requested.gt(left.pay)) {
    const words = `must come to at most the ${amountText(left.pay)} ${currency} that are left, found ${amountText(requested)} ${currency}.`;
    return refuse([name], 'credit.too_much', words);
  }
  if (requested.lte(0))
    return refuse(
      [name],
      'credit.too_little',
      `must come to 0.01 ${currency} or more, found 0.00 ${currency}.`,
    );
  return { ok: true, value: requested.eq(left.pay) ? { kind: 'all' } : { kind: 'pay', amount: requested } };
}

/** All notes together may take the worth of the receipt, which can exceed its pay_amount (docs/contract.md#notes). */
function readLinesWithin(
  lines: NonNullable<CreditRequest['lines']>,
  document: CreditedDocument,
  left: Figures,
  on: string,
): Checked<NoteScope> {
  const scope = readLines(lines, left);
  if (!scope.ok) return scope;
  const { pay } = takeShare(document, left, scope.value, on).figures;
  const { currency, pay: whole } = document.totals;
  const most = creditable(document.totals).minus(whole).plus(left.pay);
  if (pay.lte(most)) return scope;
  const words = `must come to at most the ${amountText(most)} ${currency} that are left, found ${amountText(pay)} ${currency}.`;
  return refuse(['lines'], 'credit.too_much', words);
}

function readLines(lines: NonNullable<CreditRequest['lines']>, left: Figures): Checked<NoteScope> {
  const counts = left.counts.map(() => ZERO);
  const amounts = left.amounts.map(() => ZERO);
  const faults: Fault[] = [];
  const seen = new Set<number>();
  for (const [index, { line_number, count, amount }] of lines.entries()) {
    const at = line_number - 1;
    const countLeft = left.counts[at];
    const amountLeft = left.amounts[at];
    const fault = (field: string, code: string, words: string) =>
      void faults.push(faultAt(['lines', index, field], code, words));
    const isWithin = (field: string, value: Big, most: Big, format: (figure: Big) => string): boolean => {
      const words = `must be at most the ${format(most)} that are left, found ${format(value)}.`;
      if (value.gt(most)) fault(field, 'credit.too_much', words);
      else if (value.eq(0)) fault(field, 'credit.too_little', 'must be above 0, found 0.');
      return value.gt(0) && value.lte(most);
    };
    if (countLeft === undefined || amountLeft === undefined) {
      fault(
        'line_number',
        'credit.line',
        `must be a line of the receipt, 1 to ${left.counts.length}, found ${line_number}.`,
      );
    } else if (seen.has(line_number)) {
      fault('line_number', 'credit.line', `must name each line once, found ${line_number} again.`);
    } else if (count !== undefined && isWithin('count', count, countLeft, (figure) => figure.toFixed())) {
      counts[at] = count;
      amounts[at] = count.eq(countLeft)
        ? amountLeft
        : amountOf({ percent: count.times(100).div(countLeft) }, amountLeft);
    } else if (amount !== undefined && isWithin('amount', amount, amountLeft, amountText)) {
      amounts[at] = amount;
      if (amount.eq(amountLeft)) counts[at] = countLeft;
    }
    seen.add(line_number);
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, value: { kind: 'lines', counts, amounts } };
}

/** The data of a note other than its figures. */
export interface NoteFacts {
  readonly cfeId: string;
  readonly emissionDate: string;
  readonly paymentMethod: CreditRequest['payment_method'];
  readonly reason: string;
  /** The issuing branch, unless it is the first. */
  readonly branch: number | undefined;
}

/** A credit note as the body of POST …/cfes, and the parts of lines that the note takes. */
export interface CreditNote {
  readonly body: unknown;
  readonly credited: readonly CreditedLine[];
}

const toJsonNumber = (amount: Big): JsonNumber => new JsonNumber(amount.toFixed());

/** Returns the note for `scope`, with the original's receiver, currency, rate and kind of prices. */
export function writeCreditNote(
  original: CfeDocument,
  left: Figures,
  scope: NoteScope,
  facts: NoteFacts,
): CreditNote {
  const { figures, rounding } = takeShare(original, left, scope, facts.emissionDate);
  const whole = figuresOf(original);
  const lines = original.lines.flatMap((line, at) => {
    const count = figures.counts[at] ?? ZERO;
    const amount = figures.amounts[at] ?? ZERO;
    const written = writeLine(line, count, amount, whole.amounts[at] ?? ZERO);
    return written
      ? [{ written, credited: { line: at + 1, count: quantityText(count), amount: amountText(amount) } }]
      : [];
  });
  const details = [...lines.map(({ written }) => written), ...roundingLine(rounding)];
  const adjustments = writeAdjustments(original, figures, whole);
  const { currency, exchangeRate } = original.totals;
  const extra = omitUndefined({
    reference_reason: facts.reason,
    purchase_order: original.receiver?.purchaseOrder,
    branch: facts.branch,
  });
  const body = {
    cfe_type: creditNoteType(original.type),
    header: omitUndefined({
      doc_id: omitUndefined({
        emission_date: facts.emissionDate,
        payment_method: facts.paymentMethod ?? (original.paymentMethod === 1 ? 'CASH' : 'CREDIT'),
        third_party_payment: original.thirdPartyPayment,
      }),
      receiver: original.receiver && writeReceiver(original.receiver),
      totals: {
        currency,
        exchange_rate: toJsonNumber(Big(exchangeRate)),
        ...writeTotals(original, figures),
        line_count: toJsonNumber(Big(details.length)),
      },
      adjustments: adjustments.length > 0 ? adjustments : undefined,
    }),
    details: details.map((line, at) => ({ line_number: toJsonNumber(Big(at + 1)), ...line })),
    reference: { cfe_id: facts.cfeId },
    extra: JSON.stringify(extra),
  };
  return { body, credited: lines.map(({ credited }) => credited) };
}

/** Returns a line of a note: the original line, a part of its count with the difference as discount, or an amount. */
function writeLine(
  line: Line,
  count: Big,
  amount: Big,
  wholeAmount: Big,
): Record<string, unknown> | undefined {
  if (count.eq(0) && amount.eq(0)) return undefined;
  const words = omitUndefined({
    iva_type: line.ivaType,
    item_name: line.name,
    item_description: line.description,
    ncm: line.ncm,
    codes: line.codes,
    item_amount: toJsonNumber(amount),
  });
  if (count.eq(0)) return { ...words, count: toJsonNumber(Big(1)), unit_price: toJsonNumber(amount) };
  const priced = {
    ...words,
    count: toJsonNumber(count),
    unit_price: toJsonNumber(Big(line.unitPrice)),
    unit: line.unit,
  };
  if (count.eq(line.quantity) && amount.eq(wholeAmount)) {
    return omitUndefined({
      ...priced,
      discounts: line.discounts?.map(writeMeasure),
      surcharges: line.surcharges?.map(writeMeasure),
    });
  }
  const off = amountOf({ percent: Big(100) }, count.times(line.unitPrice)).minus(amount);
  if (off.eq(0)) return priced;
  const rows = [{ amount: toJsonNumber(off.abs()) }];
  return off.gt(0) ? { ...priced, discounts: rows } : { ...priced, surcharges: rows };
}

const writeMeasure = ({ amount, percent }: LineAdjustment) =>
  percent === undefined ? { amount: toJsonNumber(Big(amount)) } : { percent: toJsonNumber(Big(percent)) };

function roundingLine(rounding: Big): Record<string, unknown>[] {
  if (rounding.eq(0)) return [];
  const price = toJsonNumber(rounding.abs());
  const iva_type: IvaType = rounding.gt(0) ? 'NON_BILLABLE' : 'NON_BILLABLE_NEGATIVE';
  return [
    { iva_type, item_name: ROUNDING, count: toJsonNumber(Big(1)), unit_price: price, item_amount: price },
  ];
}

/** Returns the adjustments of a note: the original's for kinds that the note takes whole, else one for each kind. */
function writeAdjustments({ adjustments = [], lines }: CfeDocument, figures: Figures, whole: Figures) {
  const isWhole = (kind: IvaType) =>
    figures.adjusted[kind].eq(whole.adjusted[kind]) &&
    lines.every(({ ivaType }, at) => ivaType !== kind || figures.amounts[at]?.eq(whole.amounts[at] ?? ZERO));
  const shares = Object.entries(figures.adjusted) as [IvaType, Big][];
  return [
    ...adjustments.filter(({ ivaType }) => isWhole(ivaType)).map(writeAdjustment),
    ...shares.flatMap(([kind, adjusted]): Record<string, unknown>[] => {
      if (adjusted.eq(0) || isWhole(kind)) return [];
      const [first, second] = adjustments.filter(({ ivaType }) => ivaType === kind);
      const description = second ? SEVERAL_ADJUSTMENTS : (first?.description ?? ROUNDING);
      const direction = adjusted.lt(0) ? 'DISCOUNT' : 'SURCHARGE';
      return [{ kind: direction, iva_type: kind, description, amount: toJsonNumber(adjusted.abs()) }];
    }),
  ];
}

const writeAdjustment = ({ kind, ivaType, description, ...measure }: Adjustment) => ({
  kind,
  iva_type: ivaType,
  description,
  ...writeMeasure(measure),
});

const writeReceiver = ({ document, ...receiver }: Receiver) =>
  omitUndefined({
    receiver_doc_type: document?.type,
    receiver_document: document?.given ?? document?.number,
    legal_name: receiver.legalName,
    fiscal_address: receiver.address,
    city: receiver.city,
    department: receiver.department,
    country: receiver.countryName,
    country_code: receiver.countryCode,
  });

/** Returns the totals of a note except currency and number of lines. */
function writeTotals({ lines }: CfeDocument, { amounts, adjusted, net, vat, otherVat, pay }: Figures) {
  const sum = (kind: IvaType) =>
    lines.reduce(
      (total, { ivaType }, index) => (ivaType === kind ? total.plus(amounts[index] ?? ZERO) : total),
      adjusted[kind],
    );
  const sums = {
    tax_free_amount: sum('EXEMPT'),
    tax_minimum_net_amount: net.minimum,
    tax_minimum_amount: vat.minimum,
    tax_basic_net_amount: net.basic,
    tax_basic_amount: vat.basic,
    tax_other_net_amount: sum('OTHER_RATE'),
    tax_other_amount: otherVat,
    perceived_amount: sum('PERCEIVED'),
    suspended_amount: sum('SUSPENDED'),
  };
  const total = sumOf([...Object.values(sums), sum('EXPORT')]);
  const written = Object.entries(sums).filter(([, amount]) => !amount.eq(0));
  return {
    ...Object.fromEntries(written.map(([name, amount]) => [name, toJsonNumber(amount)])),
    total_amount: toJsonNumber(total),
    pay_amount: toJsonNumber(pay),
  };
}
