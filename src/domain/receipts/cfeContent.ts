import Big from 'big.js';
import { amountText, priceText, quantityText, rateText } from '../values/decimal.ts';
import type {
  Adjustment,
  CfeContent,
  Line,
  LineAdjustment,
  PaymentMeans,
  Receiver,
  Reference,
  ReferredCfe,
  Totals,
} from './cfeDocument.ts';
import type { Parts } from './cfeReading.ts';
import { PAYMENT_METHODS, type RequestLine } from './cfeRequest.ts';
import type { OriginalCfe } from './cfeRule.ts';
import { adjustmentAmounts, amountOf, type Measure, nonBillable } from './cfeTotals.ts';
import { CFE_TYPES, cfeTypeRow } from './cfeTypes.ts';
import { statedAmounts, takenAmounts } from './credit/referenceAmounts.ts';
import type { Referred } from './credit/referred.ts';
import { comparedNumber } from './receiverDocument.ts';

/** The defaults of the sale zone: services, without Incoterm or carriage (docs/contract.md#extra). */
const SALE_DEFAULTS = { saleCondition: 'N/A', saleMode: 90, transport: 8 } as const;
/** UniMed without a unit. */
const NO_UNIT = 'N/A';

/** The amount that a CFE takes of another: unrounded decimal text, in the other's currency. */
export interface TakenAmount {
  readonly cfeId: string;
  readonly amount: string;
}

type Originals = ReadonlyMap<string, OriginalCfe>;

/** Builds the content of a CFE from the parts of a valid request and the CFEs that it refers to. */
export function buildCfeContent(
  parts: Parts,
  originals: Originals,
): { content: CfeContent; taken: readonly TakenAmount[] } {
  const taken = takenAmounts(parts, originals).parts;
  return {
    content: contentOf(parts, originals, taken),
    taken: parts.referred.flatMap((one, index) =>
      one.kind === 'known' ? [{ cfeId: one.cfeId, amount: (taken[index] ?? Big(0)).toFixed() }] : [],
    ),
  };
}

function contentOf(parts: Parts, originals: Originals, taken: readonly Big[]): CfeContent {
  return omitUndefined({
    type: parts.cfe_type,
    emissionDate: parts.emission_date,
    externalId: parts.external_id,
    pricesIncludeVat: parts.prices.prices === 'gross',
    paymentMethod: PAYMENT_METHODS[parts.payment_method],
    dueDate: parts['extra.due_date'],
    ...saleZone(parts, originalOf(parts, originals)),
    information: parts['extra.information'],
    receiver: receiverOf(parts),
    totals: totalsOf(parts),
    lines: linesOf(parts),
    adjustments: adjustmentsOf(parts),
    payments: paymentsOf(parts),
    thirdPartyPayment: parts.third_party_payment ? true : undefined,
    ownCollection: parts.own_collection ? true : undefined,
    references: referencesOf(parts, originals, taken),
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

function paymentsOf({ payments = [] }: Parts): PaymentMeans[] | undefined {
  if (payments.length === 0) return undefined;
  return payments.map(({ description, amount, code }) =>
    omitUndefined({ description, amount: amountText(amount), code }),
  );
}

/** The first CFE of this service that a note corrects. */
function originalOf({ cfe_type, referred }: Parts, originals: Originals): OriginalCfe | undefined {
  if (cfeTypeRow(cfe_type).note === null) return undefined;
  const known = referred.find((one) => one.kind === 'known');
  return known && originals.get(known.cfeId);
}

function referencesOf(parts: Parts, originals: Originals, taken: readonly Big[]): Reference[] | undefined {
  if (parts.referred.length === 0) return undefined;
  const stated = statedAmounts(parts, originals, taken);
  return parts.referred.map((one, index) =>
    omitUndefined({
      cfe: cfeOf(one, originals, stated[index] ?? Big(0)),
      reason: one.reason ?? parts['extra.reference_reason'],
    }),
  );
}

function cfeOf(one: Referred, originals: Originals, stated: Big): ReferredCfe | undefined {
  if (one.kind === 'other') return undefined;
  if (one.kind === 'foreign') {
    const { typeCode, serie, numero, emissionDate, value } = one;
    return omitUndefined({
      typeCode,
      serie,
      numero,
      emissionDate,
      value: value && {
        amount: amountText(value.amount),
        currency: value.currency,
        exchangeRate: rateText(value.exchangeRate),
      },
    });
  }
  const original = originals.get(one.cfeId);
  if (!original) throw new Error('a CFE that a valid request refers to was not looked up');
  const { type, serie, numero, emissionDate, totals } = original.document;
  const { currency, exchangeRate } = totals;
  return {
    cfeId: one.cfeId,
    typeCode: CFE_TYPES[type].code,
    serie,
    numero,
    emissionDate,
    value: { amount: amountText(stated), currency, exchangeRate },
  };
}

/**
 * Returns the content of a CFE that is sent, with its references to CFEs that are only reported marked as unknown to the
 * authority.
 */
export function withGlobalReferences(
  content: CfeContent,
  originals: ReadonlyMap<string, Pick<OriginalCfe, 'reportOnly'>>,
): CfeContent {
  if (!content.references) return content;
  const references = content.references.map((one) =>
    one.cfe?.cfeId !== undefined && originals.get(one.cfe.cfeId)?.reportOnly
      ? { ...one, cfe: { ...one.cfe, isGlobal: true as const } }
      : one,
  );
  return { ...content, references };
}

/** Returns a copy without undefined fields. */
export function omitUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
