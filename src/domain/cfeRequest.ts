import * as z from 'zod';
import { CfeId } from './cfeId.ts';
import { CountryCode } from './countries.ts';
import { date } from './dates.ts';
import { amount, decimal, integer, signedAmount } from './decimal.ts';
import { CfeTypeName, CurrencyName, DocumentTypeName, IvaTypeName, namedEnum } from './enums.ts';
import type { Hints } from './faults.ts';
import { CFE_WORDS, LINE_WORDS, RECEIVER_WORDS, words } from './fieldWords.ts';
import { LENGTHS } from './lengths.ts';
import { text } from './text.ts';

/** FmaPago by the names that callers may use (docs/contract.md#dates-currencies-payment): cash or credit. */
export const PAYMENT_METHODS = { '1': 1, CASH: 1, '2': 2, CREDIT: 2 } as const;
type PaymentMethod = keyof typeof PAYMENT_METHODS;

const PaymentMethodName = namedEnum(
  'PaymentMethod',
  'How the receipt is paid; no other codes exist. Source: Formato CFE v25.2, zone A, field 11 (FmaPago).',
  Object.keys(PAYMENT_METHODS) as PaymentMethod[],
  {
    '1': 'FmaPago 1, cash: paid at once, by whatever means.',
    CASH: 'The same as 1.',
    '2': 'FmaPago 2, on credit: paid later.',
    CREDIT: 'The same as 2.',
  },
);

/** Whole numbers up to here are read where a rule, not the schema, says which one is right. */
const ANY_COUNT = 1_000_000;
/** What such a number can be at most: no type has more lines. */
const LINE = { minimum: 1, maximum: 700 } as const;
const ABOVE_ZERO = { minimum: undefined, exclusiveMinimum: 0 };

export const DocId = z
  .strictObject({
    emission_date: date().meta(words(CFE_WORDS.emission_date)),
    payment_method: PaymentMethodName,
  })
  .meta({
    id: 'CfeDocId',
    description: 'Date and payment of the receipt. Source: Formato CFE v25.2, zone A, IdDoc.',
  });

export const RequestReceiver = z
  .strictObject({
    receiver_doc_type: DocumentTypeName.optional(),
    receiver_document: text(LENGTHS.foreignDocument).meta(words(RECEIVER_WORDS.receiver_document)).optional(),
    legal_name: text(LENGTHS.legalName).meta(words(RECEIVER_WORDS.legal_name)).optional(),
    fiscal_address: text(LENGTHS.address).meta(words(RECEIVER_WORDS.fiscal_address)).optional(),
    city: text(LENGTHS.city).meta(words(RECEIVER_WORDS.city)).optional(),
    department: text(LENGTHS.department).meta(words(RECEIVER_WORDS.department)).optional(),
    country: text(LENGTHS.countryName).meta(words(RECEIVER_WORDS.country)).optional(),
    country_code: CountryCode.meta(words(RECEIVER_WORDS.country_code)).optional(),
  })
  .meta({
    id: 'CfeReceiver',
    description:
      'Who the receipt is for: required in the e-Factura and export families, optional in e-Tickets up to 5,000 UI net. Must say more than a country. Source: Formato CFE v25.2, zone A, Receptor.',
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
    exchange_rate: decimal({ integerDigits: 4, decimals: 3 }).meta({
      ...words(CFE_WORDS.exchange_rate),
      ...ABOVE_ZERO,
    }),
    total_amount: amount().meta(words(CFE_WORDS.total_amount)),
    pay_amount: signedAmount().meta(words(CFE_WORDS.pay_amount)),
    line_count: integer({ minimum: 0, maximum: ANY_COUNT }).meta({ ...words(CFE_WORDS.line_count), ...LINE }),
    tax_free_amount: amount().meta(words(CFE_WORDS.tax_free_amount)).optional(),
    tax_basic_amount: amount().meta(words(CFE_WORDS.tax_basic_amount)).optional(),
    tax_basic_net_amount: amount().meta(words(CFE_WORDS.tax_basic_net_amount)).optional(),
    tax_minimum_amount: amount().meta(words(CFE_WORDS.tax_minimum_amount)).optional(),
    tax_minimum_net_amount: amount().meta(words(CFE_WORDS.tax_minimum_net_amount)).optional(),
  })
  .meta({
    id: 'CfeTotals',
    description:
      'Totals of the receipt, in its currency, to the cent; they must agree with the lines. Source: Formato CFE v25.2, zone A, Totales.',
  });

export const RequestLine = z
  .strictObject({
    line_number: integer({ minimum: 0, maximum: ANY_COUNT }).meta({
      ...words(LINE_WORDS.line_number),
      ...LINE,
    }),
    iva_type: IvaTypeName,
    item_name: text(LENGTHS.itemName).meta(words(LINE_WORDS.item_name)),
    item_description: text(LENGTHS.itemDescription).meta(words(LINE_WORDS.item_description)).optional(),
    count: decimal({ integerDigits: 14, decimals: 3 }).meta({ ...words(LINE_WORDS.count), ...ABOVE_ZERO }),
    unit_price: decimal({ integerDigits: 11, decimals: 6 }).meta(words(LINE_WORDS.unit_price)),
    item_amount: amount().meta(words(LINE_WORDS.item_amount)),
  })
  .meta({
    id: 'CfeLine',
    description: 'One line of the receipt. Source: Formato CFE v25.2, zone B (Item).',
  });
export type RequestLine = z.infer<typeof RequestLine>;

/** The CFE issue request (openapi.json, issueCfe) as it stands; what binds its fields together is in cfeRules.ts. */
export const CfeRequest = z
  .strictObject({
    cfe_type: CfeTypeName,
    header: z
      .strictObject({ doc_id: DocId, receiver: RequestReceiver.optional(), totals: RequestTotals })
      .meta({
        id: 'CfeHeader',
        description: 'What holds for the whole receipt. Source: Formato CFE v25.2, zone A (Encabezado).',
      }),
    details: z.array(RequestLine).min(1).meta({
      description:
        'The lines, in order: at most 700 in e-Tickets and their notes, 200 in all other types. Source: Formato CFE v25.2, zone B (Detalle).',
      maxItems: LINE.maximum,
    }),
    reference: z
      .strictObject({
        cfe_id: CfeId.meta({
          description:
            'The CFE that a note corrects: of the same enterprise, environment and family. That receiver and lines are its own is not checked; another currency is converted over pesos by the exchange rates of the two. Source: Formato CFE v25.2, zone F, fields 3 to 5.',
        }),
      })
      .meta({
        id: 'CfeReference',
        description:
          'Required in credit and debit notes, forbidden elsewhere. Source: Formato CFE v25.2, zone F (Referencia).',
      })
      .optional(),
    extra: z
      .string()
      .meta({
        description:
          'Further fields: a **string** that holds a JSON object, not the object itself. What the object may hold is the schema [CfeExtra](#/components/schemas/CfeExtra); keys that are not in it are kept and returned to nobody. A misspelt key is therefore **not refused**: its default applies. Source: the fields of the Formato CFE v25.2 that each key names.',
        examples: ['{"due_date":"2026-12-20","purchase_order":"OC-4711"}'],
        contentMediaType: 'application/json',
        contentSchema: { $ref: '#/components/schemas/CfeExtra' },
      })
      .optional(),
  })
  .meta({ description: 'A receipt to be numbered, signed and sent.' });

/** Fields of the older sandbox layout (docs/contract.md#bodies), with the one to use now. */
export const OLDER_LAYOUT: Hints = {
  cfe_type_code: 'use cfe_type, which holds the name of the type (ETICKET)',
  items: 'use details',
  payment_methods: 'use header.doc_id.payment_method',
};
