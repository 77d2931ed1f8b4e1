import Big from 'big.js';
import * as z from 'zod';
import type { Fault } from '../../errors.ts';
import { checkInput, faultAt, MAX_FAULTS } from '../requests/faults.ts';
import { describeField, EXTRA_WORDS } from '../requests/fieldWords.ts';
import { dateSchema } from '../values/dates.ts';
import { JsonNumber } from '../values/decimal.ts';
import { addIssue, quoted } from '../values/issue.ts';
import { readJson } from '../values/json.ts';
import { LENGTHS } from '../values/lengths.ts';
import { badCharacter, textSchema } from '../values/text.ts';

/** Longer than any sensible spelling of a code. */
const LONGEST_CODE = 20;

/** Checks the length first, to avoid computing a number of a million digits. */
const isCode = ({ text }: JsonNumber, code: number): boolean =>
  text.length <= LONGEST_CODE && Big(text).eq(code);

/** ModVenta and ViaTransp (docs/authority/codes.md#sale-modes). */
const SALE_MODES: Codes = {
  1: 'goods, general regime',
  2: 'consignment',
  3: 'revisable price',
  4: 'own goods to customs exclaves',
  80: 'Tax Free',
  90: 'services, general regime',
  91: 'export through a third party',
  99: 'other',
};
const TRANSPORTS: Codes = { 1: 'by sea', 2: 'by air', 3: 'by land', 8: 'does not apply', 9: 'other' };
type Codes = Readonly<Record<number, string>>;

/** Returns a schema for a code of the CFE format, sent as a number or as a string of digits. */
function codeOf(meanings: Codes) {
  const codes = Object.keys(meanings).map(Number);
  const texts = codes.map((code) => meanings[code] ?? '');
  return z
    .custom<JsonNumber | string>((value) => typeof value === 'string' || value instanceof JsonNumber, {
      params: { expected: 'a code' },
    })
    .transform((value, ctx) => {
      const code = codes.find((candidate) =>
        typeof value === 'string' ? String(candidate) === value : isCode(value, candidate),
      );
      if (code !== undefined) return code;
      const found = quoted(String(value), LONGEST_CODE);
      addIssue(ctx, 'body.not_one_of', `must be one of ${codes.join(', ')}, found ${found}.`);
      return z.NEVER;
    })
    .meta({
      anyOf: [
        { type: 'integer', enum: codes, 'x-enum-descriptions': texts },
        { type: 'string', enum: codes.map(String), 'x-enum-descriptions': texts },
      ],
    });
}

/** The code of a branch, sent as a number or as a string of digits. */
const BranchNumber = z
  .custom<JsonNumber | string>((value) => typeof value === 'string' || value instanceof JsonNumber, {
    params: { expected: 'a branch' },
  })
  .transform((value, ctx) => {
    const digits = typeof value === 'string' ? value : value.text;
    if (/^[0-9]{1,4}$/.test(digits)) return Number(digits);
    const found = quoted(digits, LONGEST_CODE);
    addIssue(ctx, 'number.out_of_range', `must be the code of a branch, 0 to 9999, found ${found}.`);
    return z.NEVER;
  })
  .meta({
    anyOf: [
      { type: 'integer', minimum: 0, maximum: 9999 },
      { type: 'string', pattern: '^[0-9]{1,4}$' },
    ],
  });

const SaleCondition = z
  .string()
  .superRefine((value, ctx) => {
    if (/^[A-Za-z]{3}$/.test(value) || value === 'N/A') return;
    addIssue(ctx, 'body.not_one_of', `must be three letters (an Incoterm) or N/A, found ${quoted(value)}.`);
  })
  .meta({ pattern: '^([A-Za-z]{3}|N/A)$' });

/** The known keys of `extra` (docs/contract.md#extra); unknown keys are stored without being used. */
export const CfeExtra = z
  .looseObject({
    adenda: textSchema(LENGTHS.adenda, { lineEnds: true }).meta(describeField(EXTRA_WORDS.adenda)).optional(),
    due_date: dateSchema({ earliest: '2000-01-01', latest: '2050-12-31' })
      .meta(describeField(EXTRA_WORDS.due_date))
      .optional(),
    unit: textSchema(LENGTHS.unit).meta(describeField(EXTRA_WORDS.unit)).optional(),
    purchase_order: textSchema(LENGTHS.purchaseOrder)
      .meta(describeField(EXTRA_WORDS.purchase_order))
      .optional(),
    reference_reason: textSchema(LENGTHS.referenceReason)
      .meta(describeField(EXTRA_WORDS.reference_reason))
      .optional(),
    sale_condition: SaleCondition.meta(describeField(EXTRA_WORDS.sale_condition)).optional(),
    sale_mode: codeOf(SALE_MODES).meta(describeField(EXTRA_WORDS.sale_mode)).optional(),
    transport: codeOf(TRANSPORTS).meta(describeField(EXTRA_WORDS.transport)).optional(),
    information: textSchema(LENGTHS.information).meta(describeField(EXTRA_WORDS.information)).optional(),
    branch: BranchNumber.meta(describeField(EXTRA_WORDS.branch)).optional(),
  })
  .meta({
    id: 'CfeExtra',
    description:
      'The JSON object in the string `extra`. The service stores other keys without using them; together they take at most 16 KiB.',
  });
type ExtraKey = keyof typeof CfeExtra.shape;
export type ExtraValues = { [K in ExtraKey]?: z.output<(typeof CfeExtra.shape)[K]> };

/** The content of `extra`: its valid keys, invalid keys, unknown keys and all faults. */
export interface ReadExtra {
  readonly values: ExtraValues;
  readonly invalid: ReadonlySet<string>;
  readonly unknown: Readonly<Record<string, unknown>>;
  readonly faults: Fault[];
}

const EXTRA_PATH = '/extra';
const KEYS = Object.keys(CfeExtra.shape) as ExtraKey[];
const ALL_INVALID: ReadonlySet<string> = new Set(KEYS);
/** The deepest nesting in unknown keys; deeper values could not be read back. */
const DEEPEST = 20;

/** The largest size of all unknown keys, in bytes of UTF-8 as JSON without spaces. */
const MOST_UNKNOWN_BYTES = 16_384;

/** Reads `extra`. Paths of faults point into the inner document: `/extra/adenda`. */
export function readExtra(extra: string | undefined): ReadExtra {
  if (extra === undefined) return { values: {}, invalid: new Set(), unknown: {}, faults: [] };
  const json = readJson(extra);
  if (!json.ok) {
    const faults = json.faults.map(withinExtra);
    return { values: {}, invalid: ALL_INVALID, unknown: {}, faults };
  }
  const { value } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof JsonNumber) {
    const fault = faultAt([], 'extra.not_object', 'must be a JSON object encoded as a string.', EXTRA_PATH);
    return { values: {}, invalid: ALL_INVALID, unknown: {}, faults: [fault] };
  }
  const shape = CfeExtra.shape;
  const checked = checkInput(CfeExtra, value, { at: EXTRA_PATH });
  const unknown = Object.entries(value).filter(([key]) => !Object.hasOwn(shape, key));
  const unknownFaults: Fault[] = [];
  for (const [key, field] of unknown) addFaultsWithin(unknownFaults, field, [key]);
  const kept = unknownFaults.length > 0 ? {} : toStorable(Object.fromEntries(unknown));
  const bytes = new TextEncoder().encode(JSON.stringify(kept)).length;
  if (bytes > MOST_UNKNOWN_BYTES) {
    const words = `unknown keys must take at most ${MOST_UNKNOWN_BYTES} bytes of JSON together, found ${bytes}.`;
    unknownFaults.push(faultAt([], 'extra.too_large', words, EXTRA_PATH));
  }
  const faults = [...(checked.ok ? [] : checked.faults), ...unknownFaults];
  const invalid = new Set(faults.map(({ path }) => path.split('/')[2] ?? ''));
  const values: Record<string, unknown> = {};
  for (const key of KEYS) {
    if (!invalid.has(key)) values[key] = shape[key].parse((value as Record<string, unknown>)[key]);
  }
  return {
    values: Object.fromEntries(Object.entries(values).filter(([, field]) => field !== undefined)),
    invalid,
    unknown: faults.length > 0 ? {} : kept,
    faults,
  };
}

/** Converts a fault of the inner document into a fault of the request. */
function withinExtra({ path, code, message }: Fault): Fault {
  return { path: EXTRA_PATH + path, code, message: path === '' ? `extra: ${message}` : `extra.${message}` };
}

/**
 * Adds a fault for each key or string that cannot be stored, in the value of an unknown key, up to MAX_FAULTS.
 * `path`: the path of `value`, restored on return.
 */
function addFaultsWithin(faults: Fault[], value: unknown, path: (string | number)[]): void {
  if (faults.length > MAX_FAULTS) return;
  const name = path.at(-1);
  const bad =
    (typeof name === 'string' ? badCharacter(name) : undefined) ??
    (typeof value === 'string' ? badCharacter(value) : undefined);
  if (bad) {
    faults.push(faultAt(path, bad.code, bad.message, EXTRA_PATH));
    return;
  }
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return;
  if (path.length >= DEEPEST) {
    const words = `must not be nested more than ${DEEPEST} levels deep.`;
    faults.push(faultAt(path.slice(0, 1), 'extra.too_deep', words, EXTRA_PATH));
    return;
  }
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    path.push(key);
    addFaultsWithin(faults, (value as Record<string | number, unknown>)[key], path);
    path.pop();
  }
}

/** Converts read JSON into storable data: a number without an exact binary form becomes a string. */
function toStorable(value: object): Record<string, unknown>;
function toStorable(value: unknown): unknown;
function toStorable(value: unknown): unknown {
  if (value instanceof JsonNumber)
    return String(Number(value.text)) === value.text ? Number(value.text) : value.text;
  if (Array.isArray(value)) return value.map(toStorable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toStorable(inner)]));
}
