import * as z from 'zod';
import { CfeId } from './cfeId.ts';
import { CFE_TYPE_NAMES, IVA_TYPES, type IvaType } from './cfeTypes.ts';
import { CountryCode } from './countries.ts';
import { date } from './dates.ts';
import { amount, decimal, integer, signedAmount } from './decimal.ts';
import type { Hints } from './faults.ts';
import { LENGTHS } from './lengths.ts';
import { DOCUMENT_TYPES } from './receiverDocument.ts';
import { text } from './text.ts';

export const CURRENCIES = ['UYU', 'USD', 'EUR'] as const;

/** FmaPago by the names that callers may use (docs/contract.md#dates-currencies-payment): cash or credit. */
export const PAYMENT_METHODS = { '1': 1, CASH: 1, '2': 2, CREDIT: 2 } as const;
type PaymentMethod = keyof typeof PAYMENT_METHODS;

/** Whole numbers up to here are read where a rule, not the schema, says which one is right. */
const ANY_COUNT = 1_000_000;

export const DocId = z.strictObject({
  emission_date: date(),
  payment_method: z.enum(Object.keys(PAYMENT_METHODS) as [PaymentMethod, ...PaymentMethod[]]),
});

export const RequestReceiver = z.strictObject({
  receiver_doc_type: z.enum(DOCUMENT_TYPES).optional(),
  receiver_document: text(LENGTHS.foreignDocument).optional(),
  legal_name: text(LENGTHS.legalName).optional(),
  fiscal_address: text(LENGTHS.address).optional(),
  city: text(LENGTHS.city).optional(),
  department: text(LENGTHS.department).optional(),
  country: text(LENGTHS.countryName).optional(),
  country_code: CountryCode.optional(),
});
export type RequestReceiver = z.infer<typeof RequestReceiver>;

export const RequestTotals = z.strictObject({
  currency: z.enum(CURRENCIES),
  exchange_rate: decimal({ integerDigits: 4, decimals: 3 }),
  total_amount: amount(),
  pay_amount: signedAmount(),
  line_count: integer({ minimum: 0, maximum: ANY_COUNT }),
  tax_free_amount: amount().optional(),
  tax_basic_amount: amount().optional(),
  tax_basic_net_amount: amount().optional(),
  tax_minimum_amount: amount().optional(),
  tax_minimum_net_amount: amount().optional(),
});

export const RequestLine = z.strictObject({
  line_number: integer({ minimum: 0, maximum: ANY_COUNT }),
  iva_type: z.enum(Object.keys(IVA_TYPES) as [IvaType, ...IvaType[]]),
  item_name: text(LENGTHS.itemName),
  item_description: text(LENGTHS.itemDescription).optional(),
  count: decimal({ integerDigits: 14, decimals: 3 }),
  unit_price: decimal({ integerDigits: 11, decimals: 6 }),
  item_amount: amount(),
});
export type RequestLine = z.infer<typeof RequestLine>;

/** The CFE issue request (openapi.json, issueCfe) as it stands; what binds its fields together is in cfeRules.ts. */
export const CfeRequest = z.strictObject({
  cfe_type: z.enum(CFE_TYPE_NAMES as [(typeof CFE_TYPE_NAMES)[number], ...(typeof CFE_TYPE_NAMES)[number][]]),
  header: z.strictObject({ doc_id: DocId, receiver: RequestReceiver.optional(), totals: RequestTotals }),
  details: z.array(RequestLine).min(1),
  reference: z.strictObject({ cfe_id: CfeId }).optional(),
  extra: z.string().optional().meta({ contentMediaType: 'application/json' }),
});

/** Fields of the older sandbox layout (docs/contract.md#bodies), with the one to use now. */
export const OLDER_LAYOUT: Hints = {
  cfe_type_code: 'use cfe_type, which holds the name of the type (ETICKET)',
  items: 'use details',
  payment_methods: 'use header.doc_id.payment_method',
};
