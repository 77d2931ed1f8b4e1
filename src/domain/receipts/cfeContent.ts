import Big from 'big.js';
import { amountText, priceText, quantityText, rateText } from '../values/decimal.ts';
import type {
  Adjustment,
  CfeContent,
  Line,
  LineAdjustment,
  Payment,
  Receiver,
  Reference,
  Totals,
} from './cfeDocument.ts';
import type { Parts } from './cfeReading.ts';
import { PAYMENT_METHODS, type RequestLine } from './cfeRequest.ts';
import type { OriginalCfe } from './cfeRule.ts';
import { adjustmentAmounts, amountOf, type Measure, nonBillable } from './cfeTotals.ts';
import { cfeTypeRow } from './cfeTypes.ts';
import { referenceAmount } from './noteAmount.ts';
import { comparedNumber } from './receiverDocument.ts';

/** The defaults of the sale zone: services, without Incoterm or carriage (docs/contract.md#extra). */
const SALE_DEFAULTS = { saleCondition: 'N/A', saleMode: 90, transport: 8 } as const;
/** UniMed without a unit. */
const NO_UNIT = 'N/A';

/** Builds the content of a CFE from the parts of a valid request and the CFE that a note corrects. */
export function buildCfeContent(parts: Parts, original: OriginalCfe | undefined): CfeContent {
  return omitUndefined({
    type: parts.cfe_type,
    emissionDate: parts.emission_date,
    externalId: parts.external_id,
    pricesIncludeVat: parts.prices.prices === 'gross',
    paymentMethod: PAYMENT_METHODS[parts.payment_method],
    dueDate: parts['extra.due_date'],
    ...saleZone(parts, original),
    information: parts['extra.information'],
    receiver: receiverOf(parts),
    totals: totalsOf(parts),
    lines: linesOf(parts),
    adjustments: adjustmentsOf(parts),
    payments: paymentsOf(parts),
    thirdPartyPayment: parts.third_party_payment ? true : undefined,
    reference: original && referenceOf(parts, original),
    adenda: parts['extra.adenda'],
  });
}

/** Missing values of a note come from its original. Types without a sale zone have only ModVenta, for exported lines. */
function saleZone(parts: Parts, original: OriginalCfe | undefined): Partial<CfeContent> {
  const saleMode = parts['extra.sale_mode'] ?? original?.document.saleMode ?? SALE_DEFAULTS.saleMode;
  if (!cfeTypeRow(parts.cfe_type).saleZone) {
    return parts.kinds.some(({ iva_type }) => iva_type === 'EXPORT') ? { saleMode } : {};
  }
  return {
    saleCondition:
      parts['extra.sale_condition'] ?? original?.document.saleCondition ?? SALE_DEFAULTS.saleCondition,
    saleMode,
    transport: parts['extra.transport'] ?? original?.document.transport ?? SALE_DEFAULTS.transport,
  };
}

function receiverOf(parts: Parts): Receiver | undefined {
  if (parts.receiver === undefined) return undefined;
  return omitUndefined({
    document: documentOf(parts),
    legalName: parts.legal_name,
    address: parts.fiscal_address,
    city: parts.city,
    department: parts.department,
    countryName: parts.country,
    countryCode: parts.country_code,
    purchaseOrder: parts['extra.purchase_order'],
  });
}

function documentOf({
  receiver_doc_type: type,
  receiver_document: number,
  country_code,
}: Parts): Receiver['document'] {
  if (!type || !number) return undefined;
  const compared = comparedNumber(type, number);
  // The rules require a country but for Uruguayan documents.
  return omitUndefined({
    type,
    number: compared,
    given: compared === number ? undefined : number,
    country: country_code ?? 'UY',
  });
}

function totalsOf(parts: Parts): Totals {
  const money = (figure: Big | undefined) => amountText(figure ?? Big(0));
  return {
    currency: parts.currency,
    exchangeRate: rateText(parts.exchange_rate),
    exempt: money(parts.sums.EXEMPT),
    exported: money(parts.sums.EXPORT),
    minimumNet: money(parts.tax_minimum_net_amount),
    minimumVat: money(parts.tax_minimum_amount),
    basicNet: money(parts.tax_basic_net_amount),
    basicVat: money(parts.tax_basic_amount),
    total: money(parts.total_amount),
    perceived: money(parts.sums.PERCEIVED),
    suspended: money(parts.sums.SUSPENDED),
    otherNet: money(parts.sums.OTHER_RATE),
    otherVat: money(parts.tax_other_amount),
    nonBillable: money(nonBillable(parts.sums)),
    pay: money(parts.pay_amount),
  };
}

function linesOf(parts: Parts): Line[] {
  const unit = parts['extra.unit'] ?? NO_UNIT;
  // Without faults every line has all its fields.
  return (parts.lines as RequestLine[]).map((line) => {
    const product = line.count.times(line.unit_price);
    const adjusted = (rows: readonly Measure[] | undefined) =>
      rows && rows.length > 0 ? rows.map((one) => writeMeasure(one, amountOf(one, product))) : undefined;
    return omitUndefined({
      ivaType: line.iva_type,
      name: line.item_name,
      description: line.item_description,
      quantity: quantityText(line.count),
      unit: line.unit ?? unit,
      unitPrice: priceText(line.unit_price),
      amount: amountText(line.item_amount),
      ncm: line.ncm,
      codes: line.codes && line.codes.length > 0 ? line.codes : undefined,
      discounts: adjusted(line.discounts),
      surcharges: adjusted(line.surcharges),
    });
  });
}

const writeMeasure = ({ percent }: Measure, amount: Big): LineAdjustment =>
  omitUndefined({ amount: amountText(amount), percent: percent && rateText(percent) });

function adjustmentsOf({ adjustments = [], amounts }: Parts): Adjustment[] | undefined {
  if (adjustments.length === 0) return undefined;
  const figures = adjustmentAmounts(amounts, adjustments);
  return adjustments.map((one, at) => ({
    kind: one.kind,
    ivaType: one.iva_type,
    description: one.description,
    ...writeMeasure(one, figures[at] ?? Big(0)),
  }));
}

function paymentsOf({ payments = [] }: Parts): Payment[] | undefined {
  if (payments.length === 0) return undefined;
  return payments.map(({ description, amount, code }) =>
    omitUndefined({ description, amount: amountText(amount), code }),
  );
}

function referenceOf(parts: Parts, { document }: OriginalCfe): Reference {
  const { type, serie, numero, emissionDate, totals } = document;
  const note = { pay: parts.pay_amount, currency: parts.currency, exchangeRate: parts.exchange_rate };
  return omitUndefined({
    type,
    serie,
    numero,
    reason: parts['extra.reference_reason'],
    emissionDate,
    amount: amountText(referenceAmount(note, totals)),
    currency: totals.currency,
    exchangeRate: totals.exchangeRate,
  });
}

/** Returns a copy without undefined fields. */
export function omitUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
