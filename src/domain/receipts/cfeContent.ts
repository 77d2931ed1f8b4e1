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
import { adjustmentAmounts, amountOf, nonBillable, type PercentOrAmount } from './cfeTotals.ts';
import { CFE_TYPES, cfeTypeRow } from './cfeTypes.ts';
import { statedAmounts, takenAmounts } from './credit/referenceAmounts.ts';
import type { Referred } from './credit/referred.ts';
import { comparedNumber } from './receiverDocument.ts';

/** The defaults of the sale zone: services, without Incoterm or carriage (docs/contract.md#extra). */
const SALE_DEFAULTS = { saleCondition: 'N/A', saleMode: 90, transport: 8 } as const;
/** UniMed without a unit. */
const NO_UNIT = 'N/A';

/** The amount that a CFE takes from another CFE: unrounded decimal text in that CFE's currency. */
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
    content: buildContent(parts, originals, taken),
    taken: parts.referred.flatMap((reference, index) =>
      reference.kind === 'known'
        ? [{ cfeId: reference.cfeId, amount: (taken[index] ?? Big(0)).toFixed() }]
        : [],
    ),
  };
}

function buildContent(parts: Parts, originals: Originals, taken: readonly Big[]): CfeContent {
  return omitUndefined({
    type: parts.cfe_type,
    emissionDate: parts.emission_date,
    externalId: parts.external_id,
    pricesIncludeVat: parts.prices.prices === 'gross',
    paymentMethod: PAYMENT_METHODS[parts.payment_method],
    dueDate: parts['extra.due_date'],
    ...buildSaleZone(parts, findOriginal(parts, originals)),
    information: parts['extra.information'],
    receiver: buildReceiver(parts),
    totals: buildTotals(parts),
    lines: buildLines(parts),
    adjustments: buildAdjustments(parts),
    payments: buildPayments(parts),
    thirdPartyPayment: parts.third_party_payment ? true : undefined,
    ownCollection: parts.own_collection ? true : undefined,
    references: buildReferences(parts, originals, taken),
    adenda: parts['extra.adenda'],
  });
}

/** Missing values of a note come from its original. Types without a sale zone have only ModVenta, for exported lines. */
function buildSaleZone(parts: Parts, original: OriginalCfe | undefined): Partial<CfeContent> {
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

function buildReceiver(parts: Parts): Receiver | undefined {
  if (parts.receiver === undefined) return undefined;
  return omitUndefined({
    document: buildReceiverDocument(parts),
    legalName: parts.legal_name,
    address: parts.fiscal_address,
    city: parts.city,
    department: parts.department,
    countryName: parts.country,
    countryCode: parts.country_code,
    purchaseOrder: parts['extra.purchase_order'],
  });
}

function buildReceiverDocument({
  receiver_doc_type: type,
  receiver_document: number,
  country_code,
}: Parts): Receiver['document'] {
  if (!type || !number) return undefined;
  const compared = comparedNumber(type, number);
  // The rules require a country except for Uruguayan documents.
  return omitUndefined({
    type,
    number: compared,
    given: compared === number ? undefined : number,
    country: country_code ?? 'UY',
  });
}

function buildTotals(parts: Parts): Totals {
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

function buildLines(parts: Parts): Line[] {
  const unit = parts['extra.unit'] ?? NO_UNIT;
  // Without faults every line has all its fields.
  return (parts.lines as RequestLine[]).map((line) => {
    const product = line.count.times(line.unit_price);
    const adjusted = (rows: readonly PercentOrAmount[] | undefined) =>
      rows && rows.length > 0 ? rows.map((row) => writeMeasure(row, amountOf(row, product))) : undefined;
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

const writeMeasure = ({ percent }: PercentOrAmount, amount: Big): LineAdjustment =>
  omitUndefined({ amount: amountText(amount), percent: percent && rateText(percent) });

function buildAdjustments({ adjustments = [], amounts }: Parts): Adjustment[] | undefined {
  if (adjustments.length === 0) return undefined;
  const figures = adjustmentAmounts(amounts, adjustments);
  return adjustments.map((adjustment, index) => ({
    kind: adjustment.kind,
    ivaType: adjustment.iva_type,
    description: adjustment.description,
    ...writeMeasure(adjustment, figures[index] ?? Big(0)),
  }));
}

function buildPayments({ payments = [] }: Parts): PaymentMeans[] | undefined {
  if (payments.length === 0) return undefined;
  return payments.map(({ description, amount, code }) =>
    omitUndefined({ description, amount: amountText(amount), code }),
  );
}

/** Returns the first CFE of this service that a note corrects. */
function findOriginal({ cfe_type, referred }: Parts, originals: Originals): OriginalCfe | undefined {
  if (cfeTypeRow(cfe_type).note === null) return undefined;
  const known = referred.find((reference) => reference.kind === 'known');
  return known && originals.get(known.cfeId);
}

function buildReferences(parts: Parts, originals: Originals, taken: readonly Big[]): Reference[] | undefined {
  if (parts.referred.length === 0) return undefined;
  const stated = statedAmounts(parts, originals, taken);
  return parts.referred.map((reference, index) =>
    omitUndefined({
      cfe: buildReferredCfe(reference, originals, stated[index] ?? Big(0)),
      reason: reference.reason ?? parts['extra.reference_reason'],
    }),
  );
}

function buildReferredCfe(reference: Referred, originals: Originals, stated: Big): ReferredCfe | undefined {
  if (reference.kind === 'other') return undefined;
  if (reference.kind === 'foreign') {
    const { typeCode, serie, numero, emissionDate, value } = reference;
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
  const original = originals.get(reference.cfeId);
  if (!original) throw new Error('a CFE that a valid request refers to was not looked up');
  const { type, serie, numero, emissionDate, totals } = original.document;
  const { currency, exchangeRate } = totals;
  return {
    cfeId: reference.cfeId,
    typeCode: CFE_TYPES[type].code,
    serie,
    numero,
    emissionDate,
    value: { amount: amountText(stated), currency, exchangeRate },
  };
}

/** Marks references to report-only CFEs, which the authority does not know; for the content of a CFE that is sent. */
export function withGlobalReferences(
  content: CfeContent,
  originals: ReadonlyMap<string, Pick<OriginalCfe, 'reportOnly'>>,
): CfeContent {
  if (!content.references) return content;
  const references = content.references.map((reference) =>
    reference.cfe?.cfeId !== undefined && originals.get(reference.cfe.cfeId)?.reportOnly
      ? { ...reference, cfe: { ...reference.cfe, isGlobal: true as const } }
      : reference,
  );
  return { ...content, references };
}

/** Returns a copy without undefined fields. */
export function omitUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
