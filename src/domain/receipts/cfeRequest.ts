import * as z from 'zod';
import { Serie } from '../operations/parseSearch.ts';
import { CfeTypeName, CurrencyName, DocumentTypeName, IvaTypeName, namedEnum } from '../requests/enums.ts';
import type { Hints } from '../requests/faults.ts';
import {
  ADJUSTMENT_WORDS,
  CFE_FIELD_WORDS,
  describeField,
  LINE_WORDS,
  RECEIVER_WORDS,
  REFERENCE_WORDS,
} from '../requests/fieldWords.ts';
import { CountryCode } from '../values/countries.ts';
import { dateSchema } from '../values/dates.ts';
import { amountSchema, decimalSchema, integerSchema, signedAmountSchema } from '../values/decimal.ts';
import { addIssue } from '../values/issue.ts';
import { LENGTHS } from '../values/lengths.ts';
import { textSchema } from '../values/text.ts';
import { CfeId } from './cfeId.ts';

/** FmaPago by the accepted names (docs/contract.md#dates-currencies-payment): cash or credit. */
export const PAYMENT_METHODS = { '1': 1, CASH: 1, '2': 2, CREDIT: 2 } as const;
type PaymentMethod = keyof typeof PAYMENT_METHODS;

const PaymentMethodName = namedEnum(
  'PaymentMethod',
  'How the receipt is paid; no other codes exist. Source: Formato CFE v25.2, zone A, field 11 (FmaPago).',
  Object.keys(PAYMENT_METHODS) as PaymentMethod[],
  {
    '1': 'FmaPago 1, cash: paid at once, by any means.',
    CASH: 'The same as 1.',
    '2': 'FmaPago 2, on credit: paid later.',
    CREDIT: 'The same as 2.',
  },
);

/** Above any valid count, so that a rule, not the schema, reports it. */
const SCHEMA_MOST = 1_000_000;
/** The documented limits of line numbers and line counts: no type has more lines. */
const DOCUMENTED_LINES = { minimum: 1, maximum: 700 } as const;
const ABOVE_ZERO = { minimum: undefined, exclusiveMinimum: 0 };

export const DocId = z
  .strictObject({
    emission_date: dateSchema().meta(describeField(CFE_FIELD_WORDS.emission_date)),
    payment_method: PaymentMethodName,
    third_party_payment: z.boolean().meta(describeField(CFE_FIELD_WORDS.third_party_payment)).optional(),
    own_collection: z.boolean().meta(describeField(CFE_FIELD_WORDS.own_collection)).optional(),
  })
  .meta({
    id: 'CfeDocId',
    description: 'Date and payment of the receipt. Source: Formato CFE v25.2, zone A, IdDoc.',
  });

export const RequestReceiver = z
  .strictObject({
    receiver_doc_type: DocumentTypeName.optional(),
    receiver_document: textSchema(LENGTHS.foreignDocument)
      .meta(describeField(RECEIVER_WORDS.receiver_document))
      .optional(),
    legal_name: textSchema(LENGTHS.legalName).meta(describeField(RECEIVER_WORDS.legal_name)).optional(),
    fiscal_address: textSchema(LENGTHS.address).meta(describeField(RECEIVER_WORDS.fiscal_address)).optional(),
    city: textSchema(LENGTHS.city).meta(describeField(RECEIVER_WORDS.city)).optional(),
    department: textSchema(LENGTHS.department).meta(describeField(RECEIVER_WORDS.department)).optional(),
    country: textSchema(LENGTHS.countryName).meta(describeField(RECEIVER_WORDS.country)).optional(),
    country_code: CountryCode.meta(describeField(RECEIVER_WORDS.country_code)).optional(),
  })
  .meta({
    id: 'CfeReceiver',
    description:
      'The receiver: required in the e-Factura and export families, optional in e-Tickets up to 5,000 UI net. A receiver with only a country is refused. Source: Formato CFE v25.2, zone A, Receptor.',
    minProperties: 1,
    dependentRequired: {
      receiver_doc_type: ['receiver_document'],
      receiver_document: ['receiver_doc_type'],
    },
  });
export type RequestReceiver = z.infer<typeof RequestReceiver>;

export const RequestTotals = z
  .strictObject({
    currency: CurrencyName,
    exchange_rate: decimalSchema({ integerDigits: 4, decimals: 3 }).meta({
      ...describeField(CFE_FIELD_WORDS.exchange_rate),
      ...ABOVE_ZERO,
    }),
    total_amount: amountSchema().meta(describeField(CFE_FIELD_WORDS.total_amount)),
    pay_amount: signedAmountSchema().meta(describeField(CFE_FIELD_WORDS.pay_amount)),
    line_count: integerSchema({ minimum: 0, maximum: SCHEMA_MOST }).meta({
      ...describeField(CFE_FIELD_WORDS.line_count),
      ...DOCUMENTED_LINES,
    }),
    tax_free_amount: amountSchema().meta(describeField(CFE_FIELD_WORDS.tax_free_amount)).optional(),
    tax_basic_amount: amountSchema().meta(describeField(CFE_FIELD_WORDS.tax_basic_amount)).optional(),
    tax_basic_net_amount: amountSchema().meta(describeField(CFE_FIELD_WORDS.tax_basic_net_amount)).optional(),
    tax_minimum_amount: amountSchema().meta(describeField(CFE_FIELD_WORDS.tax_minimum_amount)).optional(),
    tax_minimum_net_amount: amountSchema()
      .meta(describeField(CFE_FIELD_WORDS.tax_minimum_net_amount))
      .optional(),
    tax_other_net_amount: amountSchema().meta(describeField(CFE_FIELD_WORDS.tax_other_net_amount)).optional(),
    tax_other_amount: amountSchema().meta(describeField(CFE_FIELD_WORDS.tax_other_amount)).optional(),
    perceived_amount: amountSchema().meta(describeField(CFE_FIELD_WORDS.perceived_amount)).optional(),
    suspended_amount: amountSchema().meta(describeField(CFE_FIELD_WORDS.suspended_amount)).optional(),
  })
  .meta({
    id: 'CfeTotals',
    description:
      'Totals of the receipt, in its currency, to the cent; they must agree with the lines. Source: Formato CFE v25.2, zone A, Totales.',
  });

const percentSchema = () => decimalSchema({ integerDigits: 3, decimals: 2 });

/** Returns a refinement that requires exactly one of two fields; the path of its fault is their object. */
export const requireOneOf =
  <K extends string>(first: K, second: K) =>
  (value: { readonly [P in K]?: unknown }, ctx: z.RefinementCtx): void => {
    if ((value[first] === undefined) !== (value[second] === undefined)) return;
    const found = value[first] === undefined ? 'neither' : 'both';
    addIssue(ctx, 'body.one_of', `must have either ${first} or ${second}, found ${found}.`);
  };

/** A discount or a surcharge of one line. */
const LineAdjustment = z
  .strictObject({
    percent: percentSchema().meta(describeField(ADJUSTMENT_WORDS.line_percent)).optional(),
    amount: amountSchema().meta(describeField(ADJUSTMENT_WORDS.line_amount)).optional(),
  })
  .superRefine(requireOneOf('percent', 'amount'))
  .meta({ id: 'CfeLineAdjustment', description: 'A discount or surcharge: a percentage or an amount.' });

/** Kinds of codes of items (TpoCod; docs/authority/receipts.md#lines). */
const ITEM_CODES = ['GTIN8', 'GTIN12', 'GTIN13', 'GTIN14', 'PLU', 'INT1', 'INT2', 'ARCE'] as const;

const ItemCode = z
  .strictObject({
    type: namedEnum(
      'ItemCodeType',
      'Kind of a code. Source: Formato CFE v25.2, zone B, field 2 (TpoCod).',
      ITEM_CODES,
      {
        GTIN8: '8 digits (EAN-8).',
        GTIN12: '12 digits (UPC-A).',
        GTIN13: '13 digits (EAN-13).',
        GTIN14: '14 digits.',
        PLU: 'Price look-up code.',
        INT1: 'Your own code.',
        INT2: 'Your own code.',
        ARCE: "Code of the State's purchasing catalogue.",
      },
    ),
    value: textSchema(LENGTHS.itemCode).meta(describeField(ADJUSTMENT_WORDS.code_value)),
  })
  .meta({ id: 'CfeItemCode', description: 'A code of the product or service.' });

const MOST_PER_LINE = 5;

export const RequestLine = z
  .strictObject({
    line_number: integerSchema({ minimum: 0, maximum: SCHEMA_MOST }).meta({
      ...describeField(LINE_WORDS.line_number),
      ...DOCUMENTED_LINES,
    }),
    iva_type: IvaTypeName,
    item_name: textSchema(LENGTHS.itemName).meta(describeField(LINE_WORDS.item_name)),
    item_description: textSchema(LENGTHS.itemDescription)
      .meta(describeField(LINE_WORDS.item_description))
      .optional(),
    count: decimalSchema({ integerDigits: 14, decimals: 3 }).meta({
      ...describeField(LINE_WORDS.count),
      ...ABOVE_ZERO,
    }),
    unit_price: decimalSchema({ integerDigits: 11, decimals: 6 }).meta(describeField(LINE_WORDS.unit_price)),
    item_amount: amountSchema().meta(describeField(LINE_WORDS.item_amount)),
    unit: textSchema(LENGTHS.unit).meta(describeField(ADJUSTMENT_WORDS.unit)).optional(),
    ncm: textSchema(LENGTHS.ncm).meta(describeField(ADJUSTMENT_WORDS.ncm)).optional(),
    codes: z
      .array(ItemCode)
      .max(MOST_PER_LINE)
      .meta({
        description:
          'Codes of the product or service, at most 5. Source: Formato CFE v25.2, zone B, fields 2 and 3 (CodItem).',
      })
      .optional(),
    discounts: z
      .array(LineAdjustment)
      .max(MOST_PER_LINE)
      .meta(describeField(ADJUSTMENT_WORDS.discounts))
      .optional(),
    surcharges: z
      .array(LineAdjustment)
      .max(MOST_PER_LINE)
      .meta(describeField(ADJUSTMENT_WORDS.surcharges))
      .optional(),
  })
  .meta({
    id: 'CfeLine',
    description: 'One line of the receipt. Source: Formato CFE v25.2, zone B (Item).',
  });
export type RequestLine = z.infer<typeof RequestLine>;

const ADJUSTMENT_KINDS = ['DISCOUNT', 'SURCHARGE'] as const;

/** A discount or surcharge on all lines of one kind. */
const Adjustment = z
  .strictObject({
    kind: namedEnum(
      'AdjustmentKind',
      'Direction of an adjustment. Source: zone D, field 2 (TpoMovDR).',
      ADJUSTMENT_KINDS,
      {
        DISCOUNT: 'Lowers the total of the kind.',
        SURCHARGE: 'Raises the total of the kind.',
      },
    ),
    iva_type: IvaTypeName,
    description: textSchema(LENGTHS.adjustmentDescription).meta(
      describeField(ADJUSTMENT_WORDS.adjustment_description),
    ),
    percent: percentSchema().meta(describeField(ADJUSTMENT_WORDS.adjustment_percent)).optional(),
    amount: amountSchema().meta(describeField(ADJUSTMENT_WORDS.adjustment_amount)).optional(),
  })
  .superRefine(requireOneOf('percent', 'amount'))
  .meta({
    id: 'CfeAdjustment',
    description:
      'A discount or surcharge on the lines of one `iva_type`, never FREE; several may share one `iva_type`. Source: Formato CFE v25.2, zone D.',
  });

const Payment = z
  .strictObject({
    description: textSchema(LENGTHS.paymentDescription).meta(
      describeField(ADJUSTMENT_WORDS.payment_description),
    ),
    amount: signedAmountSchema().meta(describeField(ADJUSTMENT_WORDS.payment_amount)),
    code: z
      .string()
      .superRefine((value, ctx) => {
        if (!/^\d{1,3}$/.test(value))
          addIssue(
            ctx,
            'payment.code',
            `must be 1 to 3 digits as text, found ${JSON.stringify(value.slice(0, 20))}.`,
          );
      })
      .meta({ ...describeField(ADJUSTMENT_WORDS.payment_code), pattern: '^[0-9]{1,3}$' })
      .optional(),
  })
  .meta({ id: 'CfePayment', description: 'One means of payment. Source: Formato CFE v25.2, zone E.' });

const MOST_ADJUSTMENTS = 20;
const MOST_PAYMENTS = 40;

export const RequestAdjustments = z
  .array(Adjustment)
  .max(MOST_ADJUSTMENTS)
  .meta({ description: 'Discounts and surcharges of the whole receipt, at most 20.' });
export const RequestPayments = z
  .array(Payment)
  .max(MOST_PAYMENTS)
  .meta({ description: 'How the receipt is paid, at most 40 rows; for information only.' });

/** The authority's codes of CFEs, and of those issued on paper in contingency (Formato CFE v25.2, table A). */
const TYPE_CODES = /^[12](0[1-3]|1[1-3]|2[1-4]|3[1-3]|4[1-3]|5[1-3]|8[12])$/;

const RequestReference = z
  .strictObject({
    cfe_id: CfeId.meta(describeField(REFERENCE_WORDS.cfe_id)).optional(),
    cfe_type_code: z
      .string()
      .superRefine((value, ctx) => {
        if (TYPE_CODES.test(value)) return;
        const expected = 'must be a code of the authority for a type of CFE, such as "111"';
        addIssue(ctx, 'references.type_code', `${expected}, found ${JSON.stringify(value.slice(0, 20))}.`);
      })
      .meta({ ...describeField(REFERENCE_WORDS.cfe_type_code), pattern: TYPE_CODES.source })
      .optional(),
    serie: Serie.meta(describeField(REFERENCE_WORDS.serie)).optional(),
    numero: integerSchema({ minimum: 1, maximum: 9_999_999 })
      .meta(describeField(REFERENCE_WORDS.numero))
      .optional(),
    emission_date: dateSchema({ earliest: '2011-10-01', latest: '2050-12-31' })
      .meta(describeField(REFERENCE_WORDS.emission_date))
      .optional(),
    amount: amountSchema().meta(describeField(REFERENCE_WORDS.amount)).optional(),
    currency: CurrencyName.optional(),
    exchange_rate: decimalSchema({ integerDigits: 4, decimals: 3 })
      .meta({ ...describeField(REFERENCE_WORDS.exchange_rate), ...ABOVE_ZERO })
      .optional(),
    reason: textSchema(LENGTHS.referenceReason).meta(describeField(REFERENCE_WORDS.reason)).optional(),
    description: textSchema(LENGTHS.referenceReason)
      .meta(describeField(REFERENCE_WORDS.description))
      .optional(),
  })
  .meta({
    id: 'CfeReferenceRow',
    description:
      'A document that the receipt refers to, in one of three shapes: `cfe_id` with `amount` and `reason`: a CFE of this service. `cfe_type_code`, `serie`, `numero`, `emission_date`, `amount`, `currency`, `exchange_rate` and `reason`: a CFE that the company issued with another system; without `amount`, `currency` and `exchange_rate` for the types 181, 182 and 124, without `exchange_rate` in UYU. `description` alone: a document that is not a CFE. Source: Formato CFE v25.2, zone F.',
  });
export type RequestReference = z.infer<typeof RequestReference>;

const MOST_REFERENCES = 40;

/** The shape of an issue request (openapi.json, issueCfe); cfeRules.ts has the rules on several fields. */
export const CfeRequest = z
  .strictObject({
    cfe_type: CfeTypeName,
    external_id: textSchema(LENGTHS.externalId).meta(describeField(CFE_FIELD_WORDS.external_id)).optional(),
    header: z
      .strictObject({
        doc_id: DocId,
        receiver: RequestReceiver.optional(),
        totals: RequestTotals,
        adjustments: RequestAdjustments.optional(),
        payments: RequestPayments.optional(),
      })
      .meta({
        id: 'CfeHeader',
        description: 'Data of the whole receipt. Source: Formato CFE v25.2, zone A (Encabezado).',
      }),
    details: z.array(RequestLine).min(1).meta({
      description:
        'The lines, in order: at most 700 in e-Tickets and their notes, 200 in all other types. Source: Formato CFE v25.2, zone B (Detalle).',
      maxItems: DOCUMENTED_LINES.maximum,
    }),
    reference: z
      .strictObject({
        cfe_id: CfeId.meta({
          description:
            'The CFE that a note corrects, of the same enterprise, environment and family. Receiver and lines are not compared with it; another currency is converted to pesos by the exchange rates of both. Source: Formato CFE v25.2, zone F, fields 3 to 5.',
        }),
      })
      .meta({
        id: 'CfeReference',
        description:
          'The one CFE that a note corrects; forbidden in all other types. Notes need it, or `references`. Source: Formato CFE v25.2, zone F (Referencia).',
      })
      .optional(),
    references: z
      .array(RequestReference)
      .max(MOST_REFERENCES)
      .meta({
        description:
          'The documents that a receipt of any type refers to, at most 40, in place of `reference`; notes need at least one. Source: Formato CFE v25.2, zone F (Referencia).',
      })
      .optional(),
    extra: z
      .string()
      .meta({
        description:
          'Further fields: a **string** with a JSON object, not the object itself. The schema [CfeExtra](#/components/schemas/CfeExtra) lists its keys; other keys are stored, and returned where one CFE is read. A misspelt key is therefore **not refused**: its default applies. Source: the fields of the Formato CFE v25.2 that each key names.',
        examples: ['{"due_date":"2026-12-20","purchase_order":"OC-4711"}'],
        contentMediaType: 'application/json',
        contentSchema: { $ref: '#/components/schemas/CfeExtra' },
      })
      .optional(),
  })
  .meta({ description: 'A receipt to number, sign and send.' });

/** The body of a preview: all amounts that can be computed may be left out. */
export const PreviewRequest = CfeRequest.extend({
  header: CfeRequest.shape.header
    .extend({
      totals: RequestTotals.partial().required({ currency: true, exchange_rate: true }).meta({
        id: 'PreviewTotals',
        description:
          'Totals as in POST …/cfes; those left out are computed. Source: Formato CFE v25.2, zone A, Totales.',
      }),
    })
    .meta({
      id: 'PreviewHeader',
      description: 'Data of the whole receipt. Source: Formato CFE v25.2, zone A.',
    }),
  details: z
    .array(
      RequestLine.partial({ item_amount: true }).meta({
        id: 'PreviewLine',
        description: 'One line of the receipt. Source: Formato CFE v25.2, zone B (Item).',
      }),
    )
    .min(1)
    .meta({ description: 'The lines, in order. Source: Formato CFE v25.2, zone B (Detalle).' }),
}).meta({ description: 'A receipt whose amounts are to be computed.' });

/** Advice on fields of the older sandbox layout (docs/contract.md#bodies). */
export const OLDER_LAYOUT: Hints = {
  cfe_type_code: 'use cfe_type with the name of the type (ETICKET)',
  items: 'use details',
  payment_methods: 'use header.doc_id.payment_method',
};
