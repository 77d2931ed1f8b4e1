import { CFE_TYPES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { decimalText, units } from '../receipts/arithmetic.ts';
import { fromJson, get, type Json, type JsonObject, num, put, toJson } from '../receipts/exactJson.ts';
import { familyOf, isNote } from './cfeRequests.ts';

/** A valid request with one fault put in, and where and as what that must be told. */
interface Mutated {
  body: JsonObject;
  path: string;
  code: string;
}

/** One way to spoil a request; undefined where the request has nothing of the kind. */
export interface Mutation {
  name: string;
  apply(body: JsonObject): Mutated | undefined;
}

const TOTALS = '/header/totals';
const RECEIVER = '/header/receiver';

const typeOf = (body: JsonObject) => body['cfe_type'] as CfeType;
const there = (body: JsonObject, pointer: string): Json | undefined => {
  try {
    return get(body, pointer);
  } catch {
    return undefined;
  }
};
const lineWhere = (body: JsonObject, fits: (line: JsonObject) => boolean): number =>
  (get(body, '/details') as JsonObject[]).findIndex(fits);
const plus = (value: Json | undefined, by: bigint, places: number) =>
  num(decimalText((value === undefined ? 0n : units(value, places)) + by, places));
const extraWith = (body: JsonObject, key: string, value: Json): JsonObject => {
  const extra = typeof body['extra'] === 'string' ? (fromJson(body['extra']) as JsonObject) : {};
  return { ...body, extra: toJson({ ...extra, [key]: value }) };
};

/** Puts a value that is wrong wherever it stands. */
const wrong = (
  name: string,
  path: string,
  value: Json | undefined,
  code: string,
  only?: (body: JsonObject) => boolean,
): Mutation => ({
  name,
  apply: (body) => (only && !only(body) ? undefined : { body: put(body, path, value), path, code }),
});

/** Puts a wrong value in place of one that is there. */
const spoilt = (
  name: string,
  path: string,
  spoil: (value: Json) => Json | undefined,
  code: string,
): Mutation => ({
  name,
  apply(body) {
    const value = there(body, path);
    return value === undefined ? undefined : { body: put(body, path, spoil(value)), path, code };
  },
});

const inExtra = (
  key: string,
  value: Json,
  code: string,
  only: (body: JsonObject) => boolean = () => true,
): Mutation => ({
  name: `extra.${key} is ${toJson(value).slice(0, 30)}`,
  apply: (body) =>
    only(body) ? { body: extraWith(body, key, value), path: `/extra/${key}`, code } : undefined,
});

const hasReceiver = (body: JsonObject) => there(body, RECEIVER) !== undefined;
const isExport = (body: JsonObject) => familyOf(typeOf(body)) === 'EFACTURA_EXPORT';
const isTicket = (body: JsonObject) => familyOf(typeOf(body)) === 'ETICKET';
const isPlain = (body: JsonObject) => !isNote(typeOf(body));
const not = (test: (body: JsonObject) => boolean) => (body: JsonObject) => !test(body);

const required = [
  '/cfe_type',
  '/header',
  '/header/doc_id',
  '/header/doc_id/emission_date',
  '/header/doc_id/payment_method',
  TOTALS,
  `${TOTALS}/currency`,
  `${TOTALS}/exchange_rate`,
  `${TOTALS}/total_amount`,
  `${TOTALS}/pay_amount`,
  `${TOTALS}/line_count`,
  '/details',
  '/details/0/line_number',
  '/details/0/iva_type',
  '/details/0/item_name',
  '/details/0/count',
  '/details/0/unit_price',
  '/details/0/item_amount',
];

const shape: Mutation[] = [
  ...required.map((path) => wrong(`${path} is missing`, path, undefined, 'body.missing')),
  ...required.map((path) => wrong(`${path} is null`, path, null, 'body.null')),
  ...required.map((path) => wrong(`${path} is true`, path, true, 'body.wrong_type')),
  ...['/header', '/details', '/header/doc_id', TOTALS].map((path) =>
    wrong(`${path} is a number`, path, num(5), 'body.wrong_type'),
  ),
  ...['exchange_rate', 'total_amount', 'pay_amount', 'line_count'].map((field) =>
    spoilt(`${field} is its number as text`, `${TOTALS}/${field}`, String, 'body.wrong_type'),
  ),
  ...['', '/header', '/header/doc_id', TOTALS, '/details/0'].map((path) =>
    wrong(`an unknown field in "${path}"`, `${path}/surprise`, num(1), 'body.unknown_field'),
  ),
  ...['cfe_type_code', 'items', 'payment_methods'].map((field) =>
    wrong(`the older field ${field}`, `/${field}`, 'x', 'body.unknown_field'),
  ),
  wrong('an unknown type', '/cfe_type', 'ERESGUARDO', 'body.not_one_of'),
  wrong('an unknown currency', `${TOTALS}/currency`, 'BRL', 'body.not_one_of'),
  wrong('an unknown payment method', '/header/doc_id/payment_method', '3', 'body.not_one_of'),
  wrong('an unknown kind of line', '/details/0/iva_type', 'REDUCED_RATE', 'body.not_one_of'),
  wrong('no lines', '/details', [], 'list.too_short'),
  ...['total_amount', 'pay_amount'].map((field) =>
    spoilt(
      `${field} with three decimals`,
      `${TOTALS}/${field}`,
      (value) => num(`${decimalText(units(value, 2), 2)}1`),
      'number.too_many_decimals',
    ),
  ),
  wrong('count with four decimals', '/details/0/count', num('1.0001'), 'number.too_many_decimals'),
  wrong(
    'unit_price with seven decimals',
    '/details/0/unit_price',
    num('1.0000001'),
    'number.too_many_decimals',
  ),
  wrong(
    'exchange_rate with four decimals',
    `${TOTALS}/exchange_rate`,
    num('40.1234'),
    'number.too_many_decimals',
  ),
  wrong('an exchange_rate of five digits', `${TOTALS}/exchange_rate`, num('10000'), 'number.too_large'),
  wrong('a total of sixteen digits', `${TOTALS}/total_amount`, num('1e15'), 'number.too_large'),
  wrong('a total beyond all measure', `${TOTALS}/total_amount`, num('1e999999999'), 'number.too_large'),
  wrong(
    'a total too fine to be told',
    `${TOTALS}/total_amount`,
    num('1e-999999999'),
    'number.too_many_decimals',
  ),
  wrong('a negative total', `${TOTALS}/total_amount`, num('-1'), 'number.negative'),
  wrong('a negative price', '/details/0/unit_price', num('-1'), 'number.negative'),
  wrong('a negative amount', '/details/0/item_amount', num('-0.01'), 'number.negative'),
  wrong('a negative count', '/details/0/count', num('-1'), 'number.negative'),
  wrong('half a line number', '/details/0/line_number', num('1.5'), 'number.not_whole'),
  wrong('an empty name', '/details/0/item_name', '', 'text.empty'),
  wrong('a name of blanks', '/details/0/item_name', '  ', 'text.empty'),
  wrong('a name of 81 characters', '/details/0/item_name', '🧾'.repeat(81), 'text.too_long'),
  wrong('a tab in a name', '/details/0/item_name', 'a\tb', 'text.control_character'),
  wrong('a line end in a description', '/details/0/item_description', 'a\nb', 'text.control_character'),
  wrong('half a surrogate pair', '/details/0/item_name', 'a\uD83Eb', 'text.invalid_character'),
  wrong('U+FFFF in a name', '/details/0/item_name', 'a\uFFFF', 'text.invalid_character'),
  wrong('a date that is none', '/header/doc_id/emission_date', '2026-02-30', 'date.malformed'),
  wrong('a date with time', '/header/doc_id/emission_date', '2026-02-15T00:00:00', 'date.malformed'),
];

const general: Mutation[] = [
  wrong('a date long ago', '/header/doc_id/emission_date', '2012-01-01', 'emission_date.too_early'),
  wrong('a date before all time', '/header/doc_id/emission_date', '0001-01-01', 'emission_date.too_early'),
  wrong('a date far ahead', '/header/doc_id/emission_date', '2049-12-31', 'emission_date.too_late'),
  wrong(
    'pesos at 40',
    `${TOTALS}/exchange_rate`,
    num(40),
    'exchange_rate.not_one',
    (body) => there(body, `${TOTALS}/currency`) === 'UYU',
  ),
  wrong(
    'a rate of 0',
    `${TOTALS}/exchange_rate`,
    num('0.000'),
    'exchange_rate.zero',
    (body) => there(body, `${TOTALS}/currency`) !== 'UYU',
  ),
];

const lines: Mutation[] = [
  wrong('a first line of number 2', '/details/0/line_number', num(2), 'line.line_number'),
  wrong('a count of 0', '/details/0/count', num(0), 'line.count'),
  spoilt(
    'an amount a cent too high',
    '/details/0/item_amount',
    (value) => plus(value, 1n, 2),
    'line.item_amount',
  ),
  {
    name: 'a price of 0 in a line that is not free',
    apply(body) {
      const index = lineWhere(body, (line) => line['iva_type'] !== 'FREE');
      if (index < 0) return undefined;
      const path = `/details/${index}/unit_price`;
      return { body: put(body, path, num(0)), path, code: 'line.unit_price' };
    },
  },
  {
    name: 'a price in a free line',
    apply(body) {
      const index = lineWhere(body, (line) => line['iva_type'] === 'FREE');
      if (index < 0) return undefined;
      const path = `/details/${index}/unit_price`;
      return { body: put(body, path, num('0.000001')), path, code: 'line.unit_price' };
    },
  },
  wrong('local VAT in an export document', '/details/0/iva_type', 'BASIC_RATE', 'line.iva_type', isExport),
  {
    name: 'one line more than the type holds',
    apply(body) {
      const first = get(body, '/details/0') as JsonObject;
      const count = CFE_TYPES[typeOf(body)].maxLines + 1;
      const details = Array.from({ length: count }, (_, i) => ({ ...first, line_number: num(i + 1) }));
      return { body: put(body, '/details', details), path: '/details', code: 'lines.too_many' };
    },
  },
];

const offByACent = (field: string): Mutation => ({
  name: `${field} a cent too high`,
  apply: (body) => ({
    body: put(body, `${TOTALS}/${field}`, plus(there(body, `${TOTALS}/${field}`), 1n, 2)),
    path: `${TOTALS}/${field}`,
    code: `totals.${field}`,
  }),
});

/** Far enough from both readings to be neither, whatever the document. */
const farOff = (field: string): Mutation => ({
  name: `${field} out of all proportion`,
  apply: (body) => ({
    body: put(body, `${TOTALS}/${field}`, num('99999999999999.99')),
    path: `${TOTALS}/${field}`,
    code: `totals.${field}`,
  }),
});

const totals: Mutation[] = [
  spoilt(
    'a line_count one too high',
    `${TOTALS}/line_count`,
    (value) => plus(value, 1n, 0),
    'totals.line_count',
  ),
  ...['total_amount', 'pay_amount', 'tax_free_amount'].map(offByACent),
  ...['tax_basic_net_amount', 'tax_basic_amount', 'tax_minimum_net_amount', 'tax_minimum_amount'].map(farOff),
];

const receiver: Mutation[] = [
  wrong('no receiver', RECEIVER, undefined, 'receiver.required', not(isTicket)),
  wrong('an empty receiver', RECEIVER, {}, 'receiver.empty', hasReceiver),
  wrong('a receiver that is null', RECEIVER, null, 'body.null'),
  wrong('a receiver that is a number', RECEIVER, num(7), 'body.wrong_type'),
  wrong('a receiver that is a list', RECEIVER, [], 'body.wrong_type'),
  wrong('an unknown field of the receiver', `${RECEIVER}/surprise`, 'x', 'body.unknown_field', hasReceiver),
  ...['legal_name', 'fiscal_address', 'city'].map((field) =>
    wrong(`no ${field}`, `${RECEIVER}/${field}`, undefined, `receiver.${field}`, not(isTicket)),
  ),
  ...['department', 'country'].map((field) =>
    wrong(`no ${field}`, `${RECEIVER}/${field}`, undefined, `receiver.${field}`, isExport),
  ),
  spoilt(
    'a document without its kind',
    `${RECEIVER}/receiver_doc_type`,
    () => undefined,
    'receiver.document_incomplete',
  ),
  spoilt(
    'a kind without its document',
    `${RECEIVER}/receiver_document`,
    () => undefined,
    'receiver.document_incomplete',
  ),
  spoilt('an unknown kind of document', `${RECEIVER}/receiver_doc_type`, () => 'CEDULA', 'body.not_one_of'),
  {
    name: 'a RUC with another check digit',
    apply(body) {
      const path = `${RECEIVER}/receiver_document`;
      const number = there(body, path);
      if (there(body, `${RECEIVER}/receiver_doc_type`) !== 'RUC' || typeof number !== 'string')
        return undefined;
      const other = `${number.slice(0, 11)}${(Number(number[11]) + 1) % 10}`;
      return { body: put(body, path, other), path, code: 'receiver.ruc' };
    },
  },
  wrong(
    'a NIFE in an e-Factura',
    `${RECEIVER}/receiver_doc_type`,
    'NIFE',
    'receiver.document_type',
    (body) => !isTicket(body) && !isExport(body),
  ),
  wrong(
    'a RUC from Brazil',
    `${RECEIVER}/country_code`,
    'BR',
    'receiver.country_code',
    (body) => there(body, `${RECEIVER}/receiver_doc_type`) === 'RUC',
  ),
  wrong(
    'a NIFE from Uruguay',
    `${RECEIVER}/country_code`,
    'UY',
    'receiver.country_code',
    (body) => there(body, `${RECEIVER}/receiver_doc_type`) === 'NIFE',
  ),
  wrong(
    'a NIFE from nowhere',
    `${RECEIVER}/country_code`,
    undefined,
    'receiver.country_code',
    (body) => there(body, `${RECEIVER}/receiver_doc_type`) === 'NIFE',
  ),
  wrong('a country that has no code', `${RECEIVER}/country_code`, 'XK', 'country.unknown', hasReceiver),
];

const hasReference = (body: JsonObject): boolean => there(body, '/reference') !== undefined;
const hasReferences = (body: JsonObject): boolean => there(body, '/references/0') !== undefined;

const reference: Mutation[] = [
  wrong('a note without reference', '/reference', undefined, 'reference.required', hasReference),
  wrong('references beside a reference', '/references', [], 'references.twice', hasReference),
  wrong(
    '41 references',
    '/references',
    Array.from({ length: 41 }, () => ({ description: 'x' })),
    'list.too_long',
    hasReferences,
  ),
  wrong('a reference to nothing', '/references/0', {}, 'references.shape', hasReferences),
  wrong(
    'a reference to a type that there is not',
    '/references/0/cfe_type_code',
    '999',
    'references.type_code',
    hasReferences,
  ),
  wrong('a reason too long', '/references/0/reason', 'x'.repeat(91), 'text.too_long', hasReferences),
  wrong('a serie of small letters', '/references/0/serie', 'a', 'serie.malformed', hasReferences),
  wrong('the number 0', '/references/0/numero', num(0), 'number.out_of_range', hasReferences),
  wrong('a reference on what is no note', '/reference', { cfe_id: '101-1' }, 'reference.forbidden', isPlain),
  {
    name: 'a reference without cfe_id',
    apply: (body) =>
      !hasReference(body)
        ? undefined
        : { body: put(body, '/reference', {}), path: '/reference/cfe_id', code: 'body.missing' },
  },
  ...['101-01', '101-0', '105-1', '101', '101-1-1', ' 101-1'].map((id) =>
    wrong(`the cfe_id ${id}`, '/reference/cfe_id', id, 'cfe_id.malformed', hasReference),
  ),
  {
    name: 'a reference to another family',
    apply(body) {
      if (!hasReference(body)) return undefined;
      const other = isTicket(body) ? '111-1' : '101-1';
      const path = '/reference/cfe_id';
      return { body: put(body, path, other), path, code: 'reference.family' };
    },
  },
];

const extra: Mutation[] = [
  wrong('an extra that is an object', '/extra', {}, 'body.wrong_type'),
  wrong('an extra that is no JSON', '/extra', '{"adenda":', 'body.malformed'),
  wrong('an empty extra', '/extra', '', 'body.malformed'),
  wrong('an extra that is a list', '/extra', '[]', 'extra.not_object'),
  wrong('an extra that is a number', '/extra', '5', 'extra.not_object'),
  inExtra('adenda', num(5), 'body.wrong_type'),
  inExtra('adenda', null, 'body.null'),
  inExtra('adenda', 'a\u0000b', 'text.control_character'),
  inExtra('adenda', 'x'.repeat(10_001), 'text.too_long'),
  inExtra('due_date', '15/02/2026', 'date.malformed'),
  inExtra('due_date', '1999-12-31', 'date.out_of_range'),
  inExtra('unit', 'horas', 'text.too_long'),
  inExtra('information', 'x'.repeat(151), 'text.too_long'),
  inExtra('information', '', 'text.empty'),
  inExtra('purchase_order', 'x'.repeat(51), 'text.too_long'),
  inExtra('purchase_order', '4711', 'extra.purchase_order', not(hasReceiver)),
  inExtra('reference_reason', 'x'.repeat(91), 'text.too_long'),
  inExtra('reference_reason', 'Devolución', 'extra.reference_reason', isPlain),
  inExtra('sale_condition', 'EN CASA', 'body.not_one_of'),
  inExtra('sale_condition', 'FOB', 'extra.sale_condition', not(isExport)),
  inExtra('sale_mode', num(5), 'body.not_one_of'),
  inExtra('sale_mode', num('90.5'), 'body.not_one_of'),
  inExtra('sale_mode', num(80), 'extra.sale_mode', isExport),
  inExtra('sale_mode', num(1), 'extra.sale_mode', not(isExport)),
  inExtra('transport', '7', 'body.not_one_of'),
  inExtra('transport', true, 'body.wrong_type'),
  inExtra('transport', num(8), 'extra.transport', not(isExport)),
  inExtra('mine', 'a\u0000b', 'text.control_character'),
];

/** Every way to spoil a valid request by one fault. */
export const MUTATIONS: readonly Mutation[] = [
  ...shape,
  ...general,
  ...lines,
  ...totals,
  ...receiver,
  ...reference,
  ...extra,
];
