import { describe, expect, test } from '@jest/globals';
import type { OriginalCfe } from '../../../../src/domain/receipts/cfeRule.ts';
import { CFE_RULES } from '../../../../src/domain/receipts/cfeRules.ts';
import type { CfeType } from '../../../../src/domain/receipts/cfeTypes.ts';
import type { Fault } from '../../../../src/errors.ts';
import {
  fromJson,
  type Json,
  type JsonObject,
  num,
  put,
  toJson,
} from '../../../support/receipts/exactJson.ts';
import { type Facts, given, originalOf } from '../support.ts';

const json = (text: string) => fromJson(text) as JsonObject;

/** 2 × 500 at the basic rate, net, cash, today. */
const E_TICKET = json(`{
  "cfe_type": "ETICKET",
  "header": {
    "doc_id": {"emission_date": "2026-02-15", "payment_method": "CASH"},
    "totals": {"currency": "UYU", "exchange_rate": 1, "line_count": 1, "tax_basic_net_amount": 1000,
      "tax_basic_amount": 220, "total_amount": 1220, "pay_amount": 1220}
  },
  "details": [{"line_number": 1, "iva_type": "BASIC_RATE", "item_name": "Silla", "count": 2, "unit_price": 500, "item_amount": 1000}]
}`);
const COMPANY =
  json(`{"receiver_doc_type": "RUC", "receiver_document": "214844360018", "legal_name": "Cliente SA",
  "fiscal_address": "Avenida 1", "city": "Montevideo"}`);
const ABROAD =
  json(`{"receiver_doc_type": "NIFE", "receiver_document": "12345678000195", "country_code": "BR",
  "legal_name": "Cliente Ltda", "fiscal_address": "Rua 1", "city": "Porto Alegre", "department": "RS", "country": "Brasil"}`);
const E_INVOICE = put(put(E_TICKET, '/cfe_type', 'EFACTURA'), '/header/receiver', COMPANY);
const EXPORT_TOTALS = json(
  `{"currency": "USD", "exchange_rate": 40.125, "line_count": 1, "total_amount": 1000, "pay_amount": 1000}`,
);
const EXPORT = withAll(E_INVOICE, {
  '/cfe_type': 'EFACTURA_EXPORT',
  '/header/receiver': ABROAD,
  '/header/totals': EXPORT_TOTALS,
  '/details/0/iva_type': 'EXPORT',
});

/** 111 A 57 of another system, of 12,200 pesos. */
const FOREIGN: JsonObject = {
  cfe_type_code: '111',
  serie: 'A',
  numero: num(57),
  emission_date: '2026-01-10',
  amount: num(12200),
  currency: 'UYU',
};

function withAll(body: JsonObject, changes: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.entries(changes).reduce((changed, [place, value]) => put(changed, place, value), body);
}

/** One line of that kind with count 1, and the totals given beside currency and line_count. */
function oneLine(kind: string, price: string, totals: Readonly<Record<string, string>>): JsonObject {
  const numbers = Object.fromEntries(Object.entries(totals).map(([field, text]) => [field, num(text)]));
  return withAll(E_TICKET, {
    '/details/0': {
      line_number: num(1),
      iva_type: kind,
      item_name: 'Silla',
      count: num(1),
      unit_price: num(price),
      item_amount: num(price),
    },
    '/header/totals': { currency: 'UYU', exchange_rate: num(1), line_count: num(1), ...numbers },
  });
}

const basic = (price: string, net: string, vat: string, total: string) =>
  oneLine('BASIC_RATE', price, {
    tax_basic_net_amount: net,
    tax_basic_amount: vat,
    total_amount: total,
    pay_amount: total,
  });
const minimum = (price: string, net: string, vat: string, total: string) =>
  oneLine('MINIMUM_RATE', price, {
    tax_minimum_net_amount: net,
    tax_minimum_amount: vat,
    total_amount: total,
    pay_amount: total,
  });
const exempt = (price: string, free = price) =>
  oneLine('EXEMPT', price, { tax_free_amount: free, total_amount: price, pay_amount: price });

/** 100 at the minimum and 1000 at the basic rate. */
const bothRates = (totals: string) =>
  withAll(E_TICKET, {
    '/details/1': json(
      '{"line_number": 2, "iva_type": "MINIMUM_RATE", "item_name": "Pan", "count": 1, "unit_price": 100, "item_amount": 100}',
    ),
    '/header/totals': json(`{"currency": "UYU", "exchange_rate": 1, "line_count": 2, ${totals}}`),
  });

const INVOICE_OF_122 = basic('100', '100', '22', '122');
const note = (type: CfeType, body: JsonObject) =>
  withAll(body, { '/cfe_type': type, '/reference': { cfe_id: '101-1' } });
const creditNote = note('ETICKET_NC', basic('18.04', '18.04', '3.97', '22.01'));
const withExtra = (body: JsonObject, extra: Readonly<Record<string, Json>>) =>
  put(body, '/extra', toJson(extra));

interface Case {
  code: string;
  path: string;
  body: JsonObject;
  context?: Facts;
}

/** For each rule a request that breaks it and nothing else. */
const CASES: Case[] = [
  {
    code: 'emission_date.too_early',
    path: '/header/doc_id/emission_date',
    body: put(E_TICKET, '/header/doc_id/emission_date', '2025-12-16'),
  },
  {
    code: 'emission_date.too_late',
    path: '/header/doc_id/emission_date',
    body: put(E_TICKET, '/header/doc_id/emission_date', '2026-04-17'),
  },
  {
    code: 'exchange_rate.not_one',
    path: '/header/totals/exchange_rate',
    body: put(E_TICKET, '/header/totals/exchange_rate', num(40)),
  },
  {
    code: 'exchange_rate.zero',
    path: '/header/totals/exchange_rate',
    body: withAll(E_TICKET, { '/header/totals/currency': 'USD', '/header/totals/exchange_rate': num(0) }),
  },
  {
    code: 'totals.exchange_rate_implausible',
    path: '/header/totals/exchange_rate',
    body: put(EXPORT, '/header/totals/exchange_rate', num(3985)),
    context: {
      lastRate: { currency: 'USD', date: '2026-02-14', rate: '39.850000', source: 'BCU 2225' },
    },
  },
  {
    code: 'receiver.required',
    path: '/header/receiver',
    body: put(E_INVOICE, '/header/receiver', undefined),
  },
  { code: 'receiver.empty', path: '/header/receiver', body: put(E_TICKET, '/header/receiver', {}) },
  {
    code: 'receiver.document_required',
    path: '/header/receiver/receiver_document',
    body: withAll(E_INVOICE, {
      '/header/receiver/receiver_doc_type': undefined,
      '/header/receiver/receiver_document': undefined,
    }),
  },
  {
    code: 'receiver.document_incomplete',
    path: '/header/receiver/receiver_document',
    body: put(E_INVOICE, '/header/receiver/receiver_document', undefined),
  },
  {
    code: 'receiver.document_type',
    path: '/header/receiver/receiver_doc_type',
    body: withAll(E_INVOICE, {
      '/header/receiver/receiver_doc_type': 'NIFE',
      '/header/receiver/country_code': 'BR',
    }),
  },
  {
    code: 'receiver.ruc',
    path: '/header/receiver/receiver_document',
    body: put(E_INVOICE, '/header/receiver/receiver_document', '214844360017'),
  },
  {
    code: 'receiver.ci',
    path: '/header/receiver/receiver_document',
    body: put(E_TICKET, '/header/receiver', person('CI', '12345673')),
  },
  {
    code: 'receiver.nie',
    path: '/header/receiver/receiver_document',
    body: put(E_TICKET, '/header/receiver', person('NIE', '93.402.010-1')),
  },
  {
    code: 'receiver.country_code',
    path: '/header/receiver/country_code',
    body: put(EXPORT, '/header/receiver/country_code', undefined),
  },
  ...['legal_name', 'fiscal_address', 'city', 'department', 'country'].map((field) => ({
    code: `receiver.${field}`,
    path: `/header/receiver/${field}`,
    body: put(EXPORT, `/header/receiver/${field}`, undefined),
  })),
  { code: 'receiver.identification_required', path: '/header/receiver', body: exempt('32104.01') },
  {
    code: 'lines.too_many',
    path: '/details',
    body: withAll(exportLines(201, 'EFACTURA'), { '/header/receiver': COMPANY }),
  },
  {
    code: 'line.line_number',
    path: '/details/1/line_number',
    body: put(bothRates(NET_BOTH()), '/details/1/line_number', num(3)),
  },
  {
    code: 'line.iva_type',
    path: '/details/0/iva_type',
    body: withAll(E_TICKET, { '/cfe_type': 'EFACTURA_EXPORT', '/header/receiver': ABROAD }),
  },
  {
    code: 'line.count',
    path: '/details/0/count',
    body: oneLineOf({ iva_type: 'FREE', count: '0', unit_price: '0', item_amount: '0' }),
  },
  {
    code: 'line.unit_price',
    path: '/details/0/unit_price',
    body: oneLineOf({ iva_type: 'BASIC_RATE', count: '1', unit_price: '0', item_amount: '0' }),
  },
  {
    code: 'line.item_amount',
    path: '/details/0/item_amount',
    body: withAll(E_TICKET, {
      '/details/0/item_amount': num('999.99'),
      '/header/totals/tax_basic_net_amount': num('999.99'),
      '/header/totals/total_amount': num('1219.99'),
      '/header/totals/pay_amount': num('1219.99'),
    }),
  },
  {
    code: 'line.below_zero',
    path: '/details/0/discounts',
    body: put(exempt('10'), '/details/0/discounts', [{ amount: num('10.01') }]),
  },
  {
    code: 'line.free_adjusted',
    path: '/details/0/surcharges',
    body: put(
      oneLineOf({ iva_type: 'FREE', count: '1', unit_price: '0', item_amount: '0' }),
      '/details/0/surcharges',
      [{ percent: num(10) }],
    ),
  },
  {
    code: 'line.gtin',
    path: '/details/0/codes',
    body: put(E_TICKET, '/details/0/codes', [{ type: 'GTIN13', value: '4006381333932' }]),
  },
  { code: 'line.ncm', path: '/details/0/ncm', body: put(E_INVOICE, '/details/0/ncm', '5105.29.10') },
  {
    code: 'adjustment.iva_type',
    path: '/header/adjustments/0/iva_type',
    body: put(E_TICKET, '/header/adjustments', [adjustment('FREE', '0')]),
  },
  {
    code: 'adjustment.below_zero',
    path: '/header/adjustments',
    body: put(basic('100', '0', '0', '0'), '/header/adjustments', [adjustment('BASIC_RATE', '110')]),
  },
  {
    code: 'totals.line_count',
    path: '/header/totals/line_count',
    body: put(E_TICKET, '/header/totals/line_count', num(2)),
  },
  { code: 'totals.tax_free_amount', path: '/header/totals/tax_free_amount', body: exempt('120', '100') },
  ...(
    [
      ['perceived_amount', 'PERCEIVED'],
      ['suspended_amount', 'SUSPENDED'],
    ] as const
  ).map(([field, kind]) => ({
    code: `totals.${field}`,
    path: `/header/totals/${field}`,
    body: oneLine(kind, '120', { [field]: '100', total_amount: '120', pay_amount: '120' }),
  })),
  {
    code: 'totals.tax_other_net_amount',
    path: '/header/totals/tax_other_net_amount',
    body: oneLine('OTHER_RATE', '120', {
      tax_other_net_amount: '100',
      tax_other_amount: '5',
      total_amount: '125',
      pay_amount: '125',
    }),
  },
  {
    code: 'totals.tax_other_amount',
    path: '/header/totals/tax_other_amount',
    body: oneLine('OTHER_RATE', '120', {
      tax_other_net_amount: '120',
      total_amount: '120',
      pay_amount: '120',
    }),
  },
  {
    code: 'totals.tax_minimum_net_amount',
    path: '/header/totals/tax_minimum_net_amount',
    body: minimum('100', '99', '10', '110'),
  },
  {
    code: 'totals.tax_minimum_amount',
    path: '/header/totals/tax_minimum_amount',
    body: minimum('100', '100', '12', '110'),
  },
  {
    code: 'totals.tax_basic_net_amount',
    path: '/header/totals/tax_basic_net_amount',
    body: basic('1000', '999', '220', '1220'),
  },
  {
    code: 'totals.tax_basic_amount',
    path: '/header/totals/tax_basic_amount',
    body: basic('1000', '1000', '200', '1220'),
  },
  {
    code: 'totals.prices_mixed',
    path: '/header/totals',
    body: bothRates(
      '"tax_minimum_net_amount": 100, "tax_minimum_amount": 10, "tax_basic_net_amount": 819.67, "tax_basic_amount": 180.33, "total_amount": 1100, "pay_amount": 1100',
    ),
  },
  {
    code: 'totals.total_amount',
    path: '/header/totals/total_amount',
    body: put(E_TICKET, '/header/totals/total_amount', num('1220.01')),
  },
  {
    code: 'totals.pay_amount',
    path: '/header/totals/pay_amount',
    body: withAll(E_TICKET, {
      '/header/totals/line_count': num(2),
      '/details/1': json(
        '{"line_number": 2, "iva_type": "NON_BILLABLE_NEGATIVE", "item_name": "Redondeo", "count": 1, "unit_price": 0.5, "item_amount": 0.5}',
      ),
    }),
  },
  { code: 'totals.non_billable', path: '/details', body: hugeDiscount() },
  { code: 'reference.required', path: '/reference', body: put(E_TICKET, '/cfe_type', 'ETICKET_NC') },
  { code: 'reference.forbidden', path: '/reference', body: put(E_TICKET, '/reference', { cfe_id: '101-1' }) },
  {
    code: 'reference.family',
    path: '/reference/cfe_id',
    body: withAll(E_INVOICE, { '/cfe_type': 'EFACTURA_NC', '/reference': { cfe_id: '101-1' } }),
    context: { original: originalOf(E_TICKET) },
  },
  {
    code: 'reference.unknown',
    path: '/reference/cfe_id',
    body: withAll(E_TICKET, { '/cfe_type': 'ETICKET_NC', '/reference': { cfe_id: '101-9' } }),
  },
  {
    code: 'reference.rejected',
    path: '/reference/cfe_id',
    body: note('ETICKET_NC', E_TICKET),
    context: { original: originalOf(E_TICKET, { status: 'REJECTED' }) },
  },
  {
    code: 'reference.amount_exceeded',
    path: '/header/totals/pay_amount',
    body: creditNote,
    context: { original: originalOf(INVOICE_OF_122, { credited: '100.00' }) },
  },
  {
    code: 'references.twice',
    path: '/references',
    body: put(note('ETICKET_NC', E_TICKET), '/references', [{ cfe_id: '101-1' }]),
    context: { original: originalOf(E_TICKET) },
  },
  {
    code: 'references.shape',
    path: '/references/0',
    body: referring({ cfe_id: '101-1', description: 'Papel' }),
  },
  {
    code: 'references.amount_required',
    path: '/references/0/amount',
    body: referring({ ...FOREIGN, amount: undefined }),
  },
  {
    code: 'references.amount_forbidden',
    path: '/references/0/amount',
    body: referring({ ...FOREIGN, cfe_type_code: '181', currency: undefined }),
  },
  {
    code: 'references.exchange_rate',
    path: '/references/0/exchange_rate',
    body: referring({ ...FOREIGN, exchange_rate: num('39.95') }),
  },
  {
    code: 'references.emission_date',
    path: '/references/0/emission_date',
    body: referring({ ...FOREIGN, emission_date: '2030-01-01' }),
  },
  {
    code: 'references.repeated',
    path: '/references/1',
    body: referring(FOREIGN, { ...FOREIGN, amount: num(1) }),
  },
  {
    code: 'references.issued_here',
    path: '/references/0',
    body: referring(FOREIGN),
    context: { issuedHere: new Map([['111 A 57', '101-7']]) },
  },
  {
    code: 'references.amount',
    path: '/references/0/amount',
    body: credit(INVOICE_OF_122, { cfe_id: '101-1', amount: num('22.01') }, { description: 'Papel' }),
    context: { originals: new Map([['101-1', originalOf(INVOICE_OF_122, { credited: '100.00' })]]) },
  },
  {
    code: 'references.amount_sum',
    path: '/references',
    body: credit(exempt('100'), { cfe_id: '101-1', amount: num(120) }),
    context: { originals: new Map([['101-1', originalOf(INVOICE_OF_122)]]) },
  },
  {
    code: 'own_collection.type',
    path: '/header/doc_id/own_collection',
    body: withAll(collection(FOREIGN), { '/cfe_type': 'ETICKET_NC' }),
  },
  {
    code: 'own_collection.lines',
    path: '/details/0/iva_type',
    body: withAll(referring(FOREIGN), { '/header/doc_id/own_collection': true }),
  },
  { code: 'own_collection.references', path: '/references', body: collection() },
  {
    code: 'own_collection.adjustments',
    path: '/header/adjustments',
    body: withAll(collection(FOREIGN), {
      '/header/adjustments': [
        { kind: 'SURCHARGE', iva_type: 'NON_BILLABLE', description: 'Mora', amount: num(0) },
      ],
    }),
  },
  {
    code: 'extra.purchase_order',
    path: '/extra/purchase_order',
    body: withExtra(E_TICKET, { purchase_order: '4711' }),
  },
  {
    code: 'extra.reference_reason',
    path: '/extra/reference_reason',
    body: withExtra(E_TICKET, { reference_reason: 'Devolución' }),
  },
  {
    code: 'extra.sale_condition',
    path: '/extra/sale_condition',
    body: withExtra(E_TICKET, { sale_condition: 'FOB' }),
  },
  { code: 'extra.transport', path: '/extra/transport', body: withExtra(E_TICKET, { transport: num(1) }) },
  {
    code: 'extra.sale_mode',
    path: '/extra/sale_mode',
    body: withExtra(oneLine('EXPORT', '10', { total_amount: '10', pay_amount: '10' }), { sale_mode: num(1) }),
  },
];

/** An e-Ticket of 1,220 with these references. */
function referring(...references: Record<string, Json | undefined>[]): JsonObject {
  return put(E_TICKET, '/references', references.map(present));
}

/** A credit note with the lines of `body` and these references. */
function credit(body: JsonObject, ...references: Record<string, Json | undefined>[]): JsonObject {
  return withAll(body, { '/cfe_type': 'ETICKET_NC', '/references': references.map(present) });
}

/** The receipt of a collection of 500 pesos. */
function collection(...references: Record<string, Json | undefined>[]): JsonObject {
  return withAll(oneLine('NON_BILLABLE', '500', { total_amount: '0', pay_amount: '500' }), {
    '/header/doc_id/own_collection': true,
    '/references': references.length > 0 ? references.map(present) : undefined,
  });
}

function present(row: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(row).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
}

function NET_BOTH(): string {
  return '"tax_minimum_net_amount": 100, "tax_minimum_amount": 10, "tax_basic_net_amount": 1000, "tax_basic_amount": 220, "total_amount": 1330, "pay_amount": 1330';
}

function exportLines(count: number, type: CfeType): JsonObject {
  const line = {
    iva_type: 'EXPORT',
    item_name: 'Hora',
    count: num(1),
    unit_price: num(1),
    item_amount: num(1),
  };
  return withAll(E_TICKET, {
    '/cfe_type': type,
    '/details': Array.from({ length: count }, (_, i) => ({ line_number: num(i + 1), ...line })),
    '/header/totals': {
      currency: 'UYU',
      exchange_rate: num(1),
      line_count: num(count),
      total_amount: num(count),
      pay_amount: num(count),
    },
  });
}

function oneLineOf(
  line: Readonly<Record<'iva_type' | 'count' | 'unit_price' | 'item_amount', string>>,
): JsonObject {
  return withAll(E_TICKET, {
    '/details/0': {
      line_number: num(1),
      iva_type: line.iva_type,
      item_name: 'Silla',
      count: num(line.count),
      unit_price: num(line.unit_price),
      item_amount: num(line.item_amount),
    },
    '/header/totals': {
      currency: 'UYU',
      exchange_rate: num(1),
      line_count: num(1),
      total_amount: num(0),
      pay_amount: num(0),
    },
  });
}

/** Two lines of 500 million millions that are not billed, against two as large that are. */
function hugeDiscount(): JsonObject {
  const line = (n: number, kind: string) => ({
    line_number: num(n),
    iva_type: kind,
    item_name: 'Todo',
    count: num(10_000),
    unit_price: num('50000000000'),
    item_amount: num('5e14'),
  });
  return withAll(E_TICKET, {
    '/header/receiver': COMPANY,
    '/details': [line(1, 'NON_BILLABLE_NEGATIVE'), line(2, 'NON_BILLABLE_NEGATIVE'), line(3, 'EXEMPT')],
    '/header/totals': {
      currency: 'UYU',
      exchange_rate: num(1),
      line_count: num(3),
      tax_free_amount: num('5e14'),
      total_amount: num('5e14'),
      pay_amount: num('-5e14'),
    },
  });
}

const faultsOf = ({ body, context }: Pick<Case, 'body' | 'context'>): Fault[] => {
  const checked = given(body, context);
  return checked.ok ? [] : checked.faults;
};

/** A discount of the whole receipt on one kind of line. */
function adjustment(kind: string, amount: string): JsonObject {
  return { kind: 'DISCOUNT', iva_type: kind, description: 'Descuento', amount: num(amount) };
}

/** A receipt of several lines: kind, amount; and its adjustments: kind, amount. */
function mixed(
  lines: readonly (readonly [kind: string, amount: string])[],
  adjustments: readonly (readonly [kind: string, amount: string])[],
  totals: Readonly<Record<string, string>>,
): JsonObject {
  const numbers = Object.fromEntries(Object.entries(totals).map(([field, text]) => [field, num(text)]));
  return withAll(E_TICKET, {
    '/details': lines.map(([kind, amount], index) => ({
      line_number: num(index + 1),
      iva_type: kind,
      item_name: 'Silla',
      count: num(1),
      unit_price: num(amount),
      item_amount: num(amount),
    })),
    '/header/adjustments': adjustments.map(([kind, amount]) => adjustment(kind, amount)),
    '/header/totals': { currency: 'UYU', exchange_rate: num(1), line_count: num(lines.length), ...numbers },
  });
}

/** A buyer with a document, and no more. */
function person(type: string, number: string, country?: string): JsonObject {
  const base = { receiver_doc_type: type, receiver_document: number };
  return country === undefined ? base : { ...base, country_code: country };
}

describe('every rule', () => {
  test.each(CASES.map((one) => [one.code, one] as const))(
    '%s is earned, alone, with the message of its row',
    (code, one) => {
      const row = CFE_RULES.find((rule) => rule.code === code);
      expect(faultsOf(one)).toEqual([{ path: one.path, code, message: row?.example }]);
    },
  );

  test('has its case', () => {
    expect(CASES.map(({ code }) => code).toSorted()).toEqual(CFE_RULES.map(({ code }) => code).toSorted());
  });
});

describe('the base documents of these tests', () => {
  test.each([
    ['an e-Ticket', E_TICKET],
    ['an e-Factura', E_INVOICE],
    ['an export', EXPORT],
    ['both rates, net', bothRates(NET_BOTH())],
  ])('%s is taken', (_, body) => {
    expect(given(body)).toMatchObject({ ok: true });
  });
});

describe('edges of rules', () => {
  test.each<[string, JsonObject, Facts?]>([
    ['60 days back', put(E_TICKET, '/header/doc_id/emission_date', '2025-12-17')],
    ['60 days ahead', put(E_TICKET, '/header/doc_id/emission_date', '2026-04-16')],
    ['exactly 5,000 UI need no receiver', exempt('32104')],
    ['a receiver of the smallest kind', put(E_TICKET, '/header/receiver', { city: 'Salto' })],
    ['VAT a cent below the product', basic('1000', '1000', '219.99', '1219.99')],
    ['VAT a cent above the product', basic('1000', '1000', '220.01', '1220.01')],
    ['prices that include VAT', basic('1000', '819.67', '180.33', '1000')],
    ['gross prices whose VAT is not the product', basic('0.14', '0.11', '0.03', '0.14')],
    [
      'zeros that are given for what there is none of',
      put(E_TICKET, '/header/totals/tax_free_amount', num('0.00')),
    ],
    [
      'numbers with trailing zeros and exponents',
      withAll(E_TICKET, {
        '/details/0/count': num('2.0000'),
        '/details/0/unit_price': num('5e2'),
        '/header/totals/line_count': num('1.0'),
      }),
    ],
    [
      'a pay_amount below zero',
      oneLine('NON_BILLABLE_NEGATIVE', '10', { total_amount: '0', pay_amount: '-10' }),
    ],
    ['a free gift alone', oneLineOf({ iva_type: 'FREE', count: '3', unit_price: '0', item_amount: '0' })],
    [
      'a half cent rounded up',
      withAll(oneLineOf({ iva_type: 'EXEMPT', count: '0.5', unit_price: '0.01', item_amount: '0.01' }), {
        '/header/totals/total_amount': num('0.01'),
        '/header/totals/pay_amount': num('0.01'),
        '/header/totals/tax_free_amount': num('0.01'),
      }),
    ],
    ['a RUC in an e-Ticket', put(E_TICKET, '/header/receiver', COMPANY)],
    // Formato CFE v25.2, zones B and D: sums to the cent.
    [
      'discounts of 10 % and 6.35 on 451.50, a surcharge of 5 %',
      withAll(E_TICKET, {
        '/details/0': {
          line_number: num(1),
          iva_type: 'BASIC_RATE',
          item_name: 'Silla',
          count: num(3),
          unit_price: num('150.50'),
          discounts: [{ percent: num(10) }, { amount: num('6.35') }],
          item_amount: num(400),
        },
        '/details/1': {
          line_number: num(2),
          iva_type: 'BASIC_RATE',
          item_name: 'Flete',
          count: num(1),
          unit_price: num(200),
          surcharges: [{ percent: num(5) }],
          item_amount: num(210),
        },
        '/header/totals': json(
          '{"currency":"UYU","exchange_rate":1,"line_count":2,"tax_basic_net_amount":610,"tax_basic_amount":134.2,"total_amount":744.2,"pay_amount":744.2}',
        ),
      }),
    ],
    [
      '10 % of net lines at three rates',
      mixed(
        [
          ['BASIC_RATE', '1000'],
          ['BASIC_RATE', '500'],
          ['MINIMUM_RATE', '300'],
          ['EXEMPT', '200'],
        ],
        [
          ['BASIC_RATE', '150'],
          ['MINIMUM_RATE', '30'],
          ['EXEMPT', '20'],
        ],
        {
          tax_free_amount: '180',
          tax_minimum_net_amount: '270',
          tax_minimum_amount: '27',
          tax_basic_net_amount: '1350',
          tax_basic_amount: '297',
          total_amount: '2124',
          pay_amount: '2124',
        },
      ),
    ],
    [
      'gross lines with discounts and a non-billable line',
      mixed(
        [
          ['BASIC_RATE', '1220'],
          ['MINIMUM_RATE', '550'],
          ['NON_BILLABLE', '50'],
        ],
        [
          ['BASIC_RATE', '122'],
          ['MINIMUM_RATE', '55'],
        ],
        {
          tax_minimum_net_amount: '450',
          tax_minimum_amount: '45',
          tax_basic_net_amount: '900',
          tax_basic_amount: '198',
          total_amount: '1593',
          pay_amount: '1643',
        },
      ),
    ],
    [
      'discounts on lines that are not billed, both ways',
      mixed(
        [
          ['NON_BILLABLE', '500'],
          ['NON_BILLABLE_NEGATIVE', '200'],
        ],
        [
          ['NON_BILLABLE', '50'],
          ['NON_BILLABLE_NEGATIVE', '20'],
        ],
        { total_amount: '0', pay_amount: '270' },
      ),
    ],
    [
      'a used car at 2.2 %',
      withAll(
        oneLine('OTHER_RATE', '400000', {
          tax_other_net_amount: '400000',
          tax_other_amount: '8800',
          total_amount: '408800',
          pay_amount: '408800',
        }),
        { '/header/receiver': COMPANY },
      ),
    ],
    ['a GTIN of 14 digits', put(E_TICKET, '/details/0/codes', [{ type: 'GTIN14', value: '10733332145213' }])],
    ['a code of its own', put(E_TICKET, '/details/0/codes', [{ type: 'INT1', value: 'A-7' }])],
    ['a CI of eight digits', put(E_TICKET, '/header/receiver', person('CI', '12345672'))],
    ['a CI of seven digits', put(E_TICKET, '/header/receiver', person('CI', '7234567'))],
    ['a CI with UY', put(E_TICKET, '/header/receiver', person('CI', '13353214', 'UY'))],
    ['a NIE', put(E_TICKET, '/header/receiver', person('NIE', '934020101'))],
    ['a DNI of Argentina', put(E_TICKET, '/header/receiver', person('DNI', '20304050', 'AR'))],
    ['a passport of Uruguay', put(E_TICKET, '/header/receiver', person('PASSPORT', 'A-123456', 'UY'))],
    ['another document of nowhere', put(EXPORT, '/header/receiver/receiver_doc_type', 'OTHER')],
    ['a NIFE of country 99', put(EXPORT, '/header/receiver/country_code', '99')],
    [
      'an export without document',
      withAll(EXPORT, {
        '/header/receiver/receiver_doc_type': undefined,
        '/header/receiver/receiver_document': undefined,
      }),
    ],
    ['700 lines of an e-Ticket', exportLines(700, 'ETICKET')],
    ['200 lines of an e-Factura', withAll(exportLines(200, 'EFACTURA'), { '/header/receiver': COMPANY })],
    [
      'a credit note for all that is left',
      note('ETICKET_NC', INVOICE_OF_122),
      { original: originalOf(INVOICE_OF_122) },
    ],
    [
      'a debit note above its original',
      note('ETICKET_ND', E_TICKET),
      { original: originalOf(INVOICE_OF_122) },
    ],
    [
      'a note whose original has no verdict yet',
      note('ETICKET_NC', INVOICE_OF_122),
      { original: originalOf(INVOICE_OF_122, { status: 'PENDING' }) },
    ],
    [
      'a note on a note of its family',
      withAll(INVOICE_OF_122, { '/cfe_type': 'ETICKET_NC', '/reference': { cfe_id: '103-1' } }),
      { original: originalOf(INVOICE_OF_122) },
    ],
  ])('%s: taken', (_, body, context = {}) => {
    expect(faultsOf({ body, context })).toEqual([]);
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'VAT two cents off',
      basic('1000', '1000', '219.98', '1219.98'),
      ['totals.tax_basic_amount', 'totals.total_amount'],
    ],
    [
      'VAT without base',
      withAll(exempt('10'), { '/header/totals/tax_basic_amount': num('0.01') }),
      ['totals.tax_basic_amount'],
    ],
    ['gross base with net VAT', basic('1000', '819.67', '180.32', '1000'), ['totals.tax_basic_amount']],
    ['a NIFE from UY', put(EXPORT, '/header/receiver/country_code', 'UY'), ['receiver.country_code']],
    ['a CI of six digits', put(E_TICKET, '/header/receiver', person('CI', '123456')), ['receiver.ci']],
    ['a CI with dots', put(E_TICKET, '/header/receiver', person('CI', '1.234.567-2')), ['receiver.ci']],
    [
      'a CI of AR',
      put(E_TICKET, '/header/receiver', person('CI', '12345672', 'AR')),
      ['receiver.country_code'],
    ],
    [
      'a DNI of US',
      put(E_TICKET, '/header/receiver', person('DNI', '20304050', 'US')),
      ['receiver.country_code'],
    ],
    [
      'a DNI without country',
      put(E_TICKET, '/header/receiver', person('DNI', '2030405')),
      ['receiver.country_code'],
    ],
    [
      'a passport of nowhere',
      put(E_TICKET, '/header/receiver', person('PASSPORT', 'A1')),
      ['receiver.country_code'],
    ],
    [
      'a CI in an e-Factura',
      withAll(E_INVOICE, {
        '/header/receiver/receiver_doc_type': 'CI',
        '/header/receiver/receiver_document': '12345672',
      }),
      ['receiver.document_type'],
    ],
    ['a RUC from BR', put(E_INVOICE, '/header/receiver/country_code', 'BR'), ['receiver.country_code']],
    [
      'a document without its kind',
      put(E_INVOICE, '/header/receiver/receiver_doc_type', undefined),
      ['receiver.document_incomplete'],
    ],
    ['a country_code alone', put(E_TICKET, '/header/receiver', { country_code: 'BR' }), ['receiver.empty']],
    [
      'a price in a FREE line',
      oneLineOf({ iva_type: 'FREE', count: '1', unit_price: '0.001', item_amount: '0' }),
      ['line.unit_price'],
    ],
    ['sale_mode without EXPORT lines', withExtra(E_TICKET, { sale_mode: num(90) }), ['extra.sale_mode']],
    [
      'above 5,000 UI in dollars',
      withAll(exempt('802'), {
        '/header/totals/currency': 'USD',
        '/header/totals/exchange_rate': num('40.125'),
      }),
      ['receiver.identification_required'],
    ],
    ['701 lines of an e-Ticket', exportLines(701, 'ETICKET'), ['lines.too_many']],
    ['1,001 lines of an e-Ticket', exportLines(1001, 'ETICKET'), ['list.too_long']],
  ])('%s: refused', (_, body, codes) => {
    expect(faultsOf({ body }).map(({ code }) => code)).toEqual(codes);
  });

  test('faults of shape and of rules are told together', () => {
    const body = withAll(E_TICKET, {
      '/surprise': num(1),
      '/details/0/line_number': num(7),
      '/details/0/item_name': '',
      '/header/totals/pay_amount': num('1'),
      '/header/doc_id/emission_date': '2020-01-01',
      '/extra': '{"unit": "metros"}',
    });

    expect(faultsOf({ body }).map(({ path, code }) => `${path} ${code}`)).toEqual([
      '/details/0/item_name text.empty',
      '/surprise body.unknown_field',
      '/extra/unit text.too_long',
      '/header/doc_id/emission_date emission_date.too_early',
      '/details/0/line_number line.line_number',
      '/header/totals/pay_amount totals.pay_amount',
    ]);
  });
});

describe('the amount that a note takes from its original', () => {
  const dollars = (price: string, rate: string) =>
    withAll(exempt(price), { '/header/totals/currency': 'USD', '/header/totals/exchange_rate': num(rate) });
  const taken = (note_: JsonObject, original: JsonObject, type: CfeType = 'ETICKET_NC') => {
    const checked = given(note(type, note_), { original: originalOf(original) });
    return checked.ok ? checked.content.references?.[0]?.cfe : checked.faults;
  };

  test.each([
    ['the same currency', exempt('50'), exempt('100'), '50.00', 'UYU', '1.000'],
    ['pesos against dollars', exempt('100'), dollars('100', '40.125'), '2.49', 'USD', '40.125'],
    ['dollars against pesos', dollars('2', '40.125'), exempt('100'), '80.25', 'UYU', '1.000'],
    ['dollars at another rate', dollars('50', '39'), dollars('100', '40.125'), '50.00', 'USD', '40.125'],
    [
      'less than nothing',
      oneLine('NON_BILLABLE_NEGATIVE', '10', { total_amount: '0', pay_amount: '-10' }),
      exempt('100'),
      '0.00',
      'UYU',
      '1.000',
    ],
  ])('in %s', (_, body, original, amount, currency, exchangeRate) => {
    expect(taken(body, original)).toEqual({
      cfeId: '101-1',
      typeCode: 101,
      serie: 'A',
      numero: 1,
      emissionDate: '2026-02-15',
      value: { amount, currency, exchangeRate },
    });
  });

  test('is at most the original in a debit note', () => {
    expect(taken(exempt('500'), exempt('100'), 'ETICKET_ND')).toMatchObject({
      value: { amount: '100.00' },
    });
  });
});

describe('what several references take', () => {
  const dollars = (price: string, rate: string) =>
    withAll(exempt(price), { '/header/totals/currency': 'USD', '/header/totals/exchange_rate': num(rate) });
  const known = (amounts: Record<string, OriginalCfe>): Facts => ({
    originals: new Map(Object.entries(amounts)),
  });
  /** MntCFEref of each, and what each counts for as credited. */
  const shared = (body: JsonObject, facts: Facts) => {
    const checked = given(body, facts);
    if (!checked.ok) return checked.faults.map(({ path, code }) => `${path} ${code}`);
    return [
      checked.content.references?.map(({ cfe }) => cfe?.value?.amount ?? null),
      checked.taken.map(({ amount }) => amount),
    ];
  };
  const ids = (...names: string[]) => names.map((cfe_id) => ({ cfe_id }));
  const two = known({
    '101-1': originalOf(INVOICE_OF_122, { credited: '100' }),
    '101-2': originalOf(exempt('50')),
  });

  test('a note fills them in order, up to what is left of each', () => {
    expect(shared(credit(exempt('60'), ...ids('101-1', '101-2')), two)).toEqual([
      ['22.00', '38.00'],
      ['22', '38'],
    ]);
    expect(shared(credit(exempt('60'), ...ids('101-2', '101-1')), two)).toEqual([
      ['50.00', '10.00'],
      ['50', '10'],
    ]);
  });

  test('and takes no more than all of it', () => {
    expect(shared(credit(exempt('72'), ...ids('101-1', '101-2')), two)).toEqual([
      ['22.00', '50.00'],
      ['22', '50'],
    ]);
    expect(shared(credit(exempt('72.01'), ...ids('101-1', '101-2')), two)).toEqual([
      '/header/totals/pay_amount reference.amount_exceeded',
    ]);
    // What is not known here may be for the rest.
    expect(shared(credit(exempt('100'), ...ids('101-1', '101-2'), { description: 'Papel' }), two)).toEqual([
      ['22.00', '50.00', null],
      ['22', '50'],
    ]);
  });

  test('an amount that is stated comes first, and the others fill the rest', () => {
    const [first, second] = [{ cfe_id: '101-1' }, { cfe_id: '101-2', amount: num('45') }];
    expect(shared(credit(exempt('60'), first, second), two)).toEqual([
      ['15.00', '45.00'],
      ['15', '45'],
    ]);
    expect(shared(credit(exempt('70'), first, second), two)).toEqual([
      '/header/totals/pay_amount reference.amount_exceeded',
    ]);
  });

  test('stated amounts alone must be all of the note, to a cent of their currency', () => {
    const abroad = known({ '101-1': originalOf(dollars('10', '40.125')) });
    const of = (amount: string) => credit(exempt('100'), { cfe_id: '101-1', amount: num(amount) });
    expect(shared(of('2.49'), abroad)).toEqual([['2.49'], ['2.49']]);
    expect(shared(of('2.48'), abroad)).toEqual(['/header/totals/pay_amount reference.amount_exceeded']);
    expect(shared(of('2.51'), abroad)).toEqual(['/references references.amount_sum']);
  });

  test('lines that are not billed neither lower nor raise what an invoice is worth to credit notes', () => {
    const withDeposit = withAll(INVOICE_OF_122, {
      '/header/totals/line_count': num(2),
      '/header/totals/pay_amount': num(72),
      '/details/1': json(
        '{"line_number": 2, "iva_type": "NON_BILLABLE_NEGATIVE", "item_name": "Seña", "count": 1, "unit_price": 50, "item_amount": 50}',
      ),
    });
    const reference = ids('101-1');
    const whole = known({ '101-1': originalOf(withDeposit) });
    // 122 without the deposit, or with it: each is all of the invoice, of which 72 was to be paid.
    expect(shared(credit(INVOICE_OF_122, ...reference), whole)).toEqual([['72.00'], ['122']]);
    expect(shared(credit(withDeposit, ...reference), whole)).toEqual([['72.00'], ['122']]);
    const nothing = known({ '101-1': originalOf(withDeposit, { credited: '122' }) });
    expect(shared(credit(exempt('0.01'), ...reference), nothing)).toEqual([
      '/header/totals/pay_amount reference.amount_exceeded',
    ]);
  });

  test('a collection takes what is left to pay of each, in order', () => {
    expect(shared(collection(...ids('101-1', '101-2')), two)).toEqual([
      ['22.00', '50.00'],
      ['22', '50'],
    ]);
  });

  test('a reference beyond what there was to pay is refused in every type', () => {
    expect(shared(collection({ cfe_id: '101-2', amount: num('50.01') }), two)).toEqual([
      '/references/0/amount references.amount',
    ]);
  });

  test('an invoice may name a CFE of any family, one of another system and what is no CFE', () => {
    const invoice = withAll(E_INVOICE, {
      '/references': [
        { cfe_id: '101-1', reason: 'Cambio' },
        { ...FOREIGN, cfe_type_code: '181', amount: undefined, currency: undefined },
        { ...FOREIGN, currency: 'USD', exchange_rate: num('39.95') },
        { description: 'Orden 881' },
      ].map(present),
    });
    const checked = given(invoice, two);
    expect(checked).toMatchObject({ ok: true });
    expect(checked.ok && checked.content.references).toEqual([
      {
        cfe: expect.objectContaining({ cfeId: '101-1', typeCode: 101 }),
        reason: 'Cambio',
      },
      { cfe: { typeCode: 181, serie: 'A', numero: 57, emissionDate: '2026-01-10' } },
      {
        cfe: {
          typeCode: 111,
          serie: 'A',
          numero: 57,
          emissionDate: '2026-01-10',
          value: { amount: '12200.00', currency: 'USD', exchangeRate: '39.950' },
        },
      },
      { reason: 'Orden 881' },
    ]);
  });
});

describe('the shape of a reference', () => {
  const withoutDate = { ...FOREIGN, emission_date: undefined };
  test.each<[string, Record<string, Json | undefined>, string[]]>([
    ['nothing', {}, ['/references/0 references.shape']],
    ['a cfe_id with a serie', { cfe_id: '101-1', serie: 'A' }, ['/references/0/serie references.shape']],
    [
      'a description with a reason',
      { description: 'x', reason: 'y' },
      ['/references/0/reason references.shape'],
    ],
    ['a foreign one without date', withoutDate, ['/references/0/emission_date references.shape']],
    [
      'dollars without rate',
      { ...FOREIGN, currency: 'USD' },
      ['/references/0/exchange_rate references.exchange_rate'],
    ],
    [
      'dollars at 0',
      { ...FOREIGN, currency: 'USD', exchange_rate: num(0) },
      ['/references/0/exchange_rate references.exchange_rate'],
    ],
    [
      'no amount at all',
      { ...FOREIGN, amount: undefined, currency: undefined },
      [
        '/references/0/amount references.amount_required',
        '/references/0/currency references.amount_required',
      ],
    ],
  ])('%s: refused', (_, row, faults) => {
    expect(faultsOf({ body: referring(row) }).map(({ path, code }) => `${path} ${code}`)).toEqual(faults);
  });

  test('a reason of a note goes to its reference, or to each of references', () => {
    const body = withExtra(credit(E_TICKET, { cfe_id: '101-1' }), { reference_reason: 'Devolución' });
    const facts = { original: originalOf(E_TICKET) };
    expect(faultsOf({ body, context: facts }).map(({ code }) => code)).toEqual(['extra.reference_reason']);
  });
});

describe('the sale zone', () => {
  const zone = (body: JsonObject, context: Facts = {}) => {
    const checked = given(body, context);
    if (!checked.ok) return checked.faults;
    const { saleCondition, saleMode, transport } = checked.content;
    return { saleCondition, saleMode, transport };
  };
  const goods = withExtra(EXPORT, { sale_condition: 'FOB', sale_mode: '1', transport: num(1) });
  const exportNote = withAll(EXPORT, {
    '/cfe_type': 'EFACTURA_EXPORT_NC',
    '/reference': { cfe_id: '121-1' },
  });

  test('of an export is that of services where nothing is said', () => {
    expect(zone(EXPORT)).toEqual({ saleCondition: 'N/A', saleMode: 90, transport: 8 });
  });
  test('of an export is what extra says', () => {
    expect(zone(goods)).toEqual({ saleCondition: 'FOB', saleMode: 1, transport: 1 });
  });
  test('of a note is that of its original', () => {
    expect(zone(exportNote, { original: originalOf(goods) })).toEqual({
      saleCondition: 'FOB',
      saleMode: 1,
      transport: 1,
    });
  });
  test('of a note is what its own extra says', () => {
    const own = withExtra(exportNote, { transport: num(2) });
    expect(zone(own, { original: originalOf(goods) })).toEqual({
      saleCondition: 'FOB',
      saleMode: 1,
      transport: 2,
    });
  });
  test('of an e-Ticket with EXPORT lines is the mode alone', () => {
    const exported = oneLine('EXPORT', '10', { total_amount: '10', pay_amount: '10' });
    expect(zone(exported)).toEqual({ saleMode: 90 });
    expect(zone(withExtra(exported, { sale_mode: num(80) }))).toEqual({ saleMode: 80 });
  });
  test('of an e-Ticket without them is nothing', () => {
    expect(zone(E_TICKET)).toEqual({});
  });
});
