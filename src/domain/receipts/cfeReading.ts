import Big from 'big.js';
import * as z from 'zod';
import type { Fault } from '../../errors.ts';
import { type Checked, checkInput, faultAt, valueAt } from '../requests/faults.ts';
import { JsonNumber } from '../values/decimal.ts';
import { isDate } from '../values/montevideo.ts';
import { type ExtraValues, type ReadExtra, readExtra } from './cfeExtra.ts';
import {
  CfeRequest,
  DocId,
  OLDER_LAYOUT,
  RequestAdjustments,
  RequestLine,
  RequestPayments,
  RequestReceiver,
  RequestTotals,
} from './cfeRequest.ts';
import {
  type LineSums,
  outsideRates,
  overdrawnKinds,
  type PriceReading,
  readPrices,
  sumsByKind,
} from './cfeTotals.ts';
import { cfeTypeRow, type IvaType } from './cfeTypes.ts';
import { type Referred, readReference } from './credit/referred.ts';
import { vatPercents } from './vat.ts';

/**
 * The fields that rules need, with path and schema. A rule runs whenever its own fields are valid, so that one response
 * lists all faults of a request.
 */
const FIELDS = {
  cfe_type: { at: ['cfe_type'], schema: CfeRequest.shape.cfe_type },
  external_id: { at: ['external_id'], schema: CfeRequest.shape.external_id },
  ...fieldsOf(['header', 'doc_id'], DocId.shape),
  ...fieldsOf(['header', 'totals'], RequestTotals.shape),
  adjustments: { at: ['header', 'adjustments'], schema: RequestAdjustments.optional() },
  payments: { at: ['header', 'payments'], schema: RequestPayments.optional() },
  /** The receiver as an object with any fields. */
  receiver: { at: ['header', 'receiver'], schema: z.custom<object>(isObject).optional() },
  ...fieldsOf(['header', 'receiver'], RequestReceiver.shape),
  /** The lines as a list with any entries. */
  details: { at: ['details'], schema: z.array(z.unknown()).min(1) },
  /** The lines with their iva_type only. */
  kinds: { at: ['details'], schema: z.array(z.object({ iva_type: RequestLine.shape.iva_type })).min(1) },
  amounts: {
    at: ['details'],
    schema: z.array(RequestLine.pick({ iva_type: true, item_amount: true }).strip()).min(1),
  },
  reference: { at: ['reference'], schema: CfeRequest.shape.reference },
  references: { at: ['references'], schema: CfeRequest.shape.references },
};

type Field<S extends z.ZodType> = { at: string[]; schema: S };

function fieldsOf<Shape extends Record<string, z.ZodType>>(at: string[], shape: Shape) {
  const fields = Object.entries(shape).map(([name, schema]) => [name, { at: [...at, name], schema }]);
  return Object.fromEntries(fields) as { [K in keyof Shape]: Field<Shape[K]> };
}

/** Values that are read from several fields. */
interface Derived {
  /** Each line with its valid fields. */
  lines: Partial<RequestLine>[];
  /** The documents named by `reference` or `references`; missing if either field breaks a rule. */
  referred: readonly Referred[];
  sums: LineSums;
  /** The kinds whose discounts exceed their lines, with the negative rest; if empty, `sums` can be checked. */
  overdrawn: readonly (readonly [IvaType, Big])[];
  prices: PriceReading;
  /** The correct total_amount; undefined if the totals of the rates do not match the lines. */
  expected_total: Big | undefined;
}

/** All values that rules can need, by name. */
export type Parts = { [K in keyof typeof FIELDS]: z.output<(typeof FIELDS)[K]['schema']> } & {
  [K in keyof ExtraValues as `extra.${K}`]-?: ExtraValues[K];
} & Derived;

/** A request after reading: its valid parts and the faults of its shape. */
export interface CfeReading {
  readonly parts: Partial<Parts>;
  readonly extra: ReadExtra;
  readonly faults: readonly Fault[];
}

/** Longer lists are refused unread: no type allows so many lines. */
const MOST_LINES_READ = 1000;

/** Returns the fault of a list of lines that is refused unread; undefined for others. */
export function tooManyLines(body: unknown): [Fault] | undefined {
  const details = valueAt(body, ['details']);
  if (!Array.isArray(details) || details.length <= MOST_LINES_READ) return undefined;
  const words = `must have at most ${MOST_LINES_READ} lines to be checked, found ${details.length}.`;
  return [faultAt(['details'], 'list.too_long', words)];
}

/** Reads the body of an issue request. `today` (Montevideo) decides the VAT rates if the emission date is invalid. */
export function readCfeRequest(body: unknown, today: string): CfeReading {
  const tooMany = tooManyLines(body);
  if (tooMany) return { parts: {}, extra: readExtra(undefined), faults: tooMany };
  const request = checkInput(CfeRequest, body, { hints: OLDER_LAYOUT });
  const text = valueAt(body, ['extra']);
  const extra = readExtra(typeof text === 'string' ? text : undefined);
  const parts: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(FIELDS)) {
    const value = readPart(field, request, body);
    if (value.isValid) parts[name] = value.value;
  }
  for (const key of EXTRA_KEYS) {
    if (!extra.invalid.has(key) && (text === undefined || typeof text === 'string'))
      parts[`extra.${key}`] = extra.values[key];
  }
  const valid: Partial<Parts> = parts;
  const lines = request.ok ? request.value.details : valid.details?.map(readValidFields);
  Object.assign(valid, lines && { lines }, deriveReferences(valid), derivePrices(valid, today));
  return { parts: valid, extra, faults: [...(request.ok ? [] : request.faults), ...extra.faults] };
}

function deriveReferences(parts: Partial<Parts>): Partial<Derived> {
  const { cfe_type: type, reference, references } = parts;
  if (!Object.hasOwn(parts, 'reference') || !Object.hasOwn(parts, 'references')) return {};
  if (reference) {
    const isForbidden = type !== undefined && cfeTypeRow(type).note === null;
    const referred = isForbidden || references ? undefined : readReference(reference, ['reference']);
    return referred ? { referred: [referred] } : {};
  }
  const rows = references ?? [];
  const referred = rows.flatMap((row, index) => readReference(row, ['references', index]) ?? []);
  return referred.length === rows.length ? { referred } : {};
}

const EXTRA_KEYS = [
  'adenda',
  'due_date',
  'unit',
  'purchase_order',
  'reference_reason',
  'sale_condition',
  'sale_mode',
  'transport',
  'information',
  'branch',
] as const satisfies (keyof ExtraValues)[];

/** Objects that may be omitted with all their fields. */
const OPTIONAL_OBJECTS = new Set(['receiver', 'reference']);

type Part = { readonly isValid: true; readonly value: unknown } | { readonly isValid: false };
const INVALID: Part = { isValid: false };

function readPart({ at: path, schema }: Field<z.ZodType>, request: Checked<unknown>, body: unknown): Part {
  if (request.ok) return { isValid: true, value: valueAt(request.value, path) };
  let owner: unknown = body;
  for (const key of path.slice(0, -1)) {
    owner = valueAt(owner, [key]);
    if (owner === undefined && OPTIONAL_OBJECTS.has(key)) return { isValid: true, value: undefined };
    if (!isObject(owner)) return INVALID;
  }
  const result = schema.safeParse(valueAt(body, path));
  return result.success ? { isValid: true, value: result.data } : INVALID;
}

function isObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}

function derivePrices(parts: Partial<Parts>, today: string): Partial<Derived> {
  if (parts.amounts === undefined || !Object.hasOwn(parts, 'adjustments')) return {};
  const sums = sumsByKind(parts.amounts, parts.adjustments);
  const overdrawn = overdrawnKinds(sums);
  if (overdrawn.length > 0) return { overdrawn };
  const names = [
    'tax_minimum_net_amount',
    'tax_minimum_amount',
    'tax_basic_net_amount',
    'tax_basic_amount',
  ] as const;
  if ([...names, 'tax_other_amount' as const].some((name) => !Object.hasOwn(parts, name)))
    return { sums, overdrawn, expected_total: undefined };
  // Omitted totals count as 0 (docs/contract.md#amounts).
  const [minimumBase, minimumVat, basicBase, basicVat] = names.map((name) => parts[name] ?? Big(0)) as [
    Big,
    Big,
    Big,
    Big,
  ];
  const prices = readPrices(sums, vatPercents(dateForVat(parts.emission_date, today)), {
    minimum: { base: minimumBase, vat: minimumVat },
    basic: { base: basicBase, vat: basicVat },
  });
  const [taxed] = prices.taxed;
  const expected =
    prices.prices &&
    taxed &&
    outsideRates(sums)
      .plus(taxed)
      .plus(parts.tax_other_amount ?? 0);
  return { sums, overdrawn, prices, expected_total: expected };
}

const dateForVat = (emissionDate: string | undefined, today: string): string =>
  emissionDate !== undefined && isDate(emissionDate) ? emissionDate : today;

function readValidFields(line: unknown): Partial<RequestLine> {
  const valid: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(RequestLine.shape)) {
    const result = schema.safeParse(valueAt(line, [name]));
    if (result.success) valid[name] = result.data;
    // Without valid adjustments the amount cannot be checked.
    else if (name === 'discounts' || name === 'surcharges') delete valid['item_amount'];
  }
  return valid;
}
