import Big from 'big.js';
import * as z from 'zod';
import type { Fault } from '../errors.ts';
import { date } from './dates.ts';
import { JsonNumber } from './decimal.ts';
import { check, faultAt, MAX_FAULTS } from './faults.ts';
import { EXTRA_WORDS, words } from './fieldWords.ts';
import { addIssue } from './issue.ts';
import { readJson } from './json.ts';
import { LENGTHS } from './lengths.ts';
import { badCharacter, text } from './text.ts';

/** Longer than any way in which a code is sensibly written. */
const LONGEST_CODE = 20;

/** A number of a million digits is none of the codes, and is not computed. */
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

/** A schema for a code of the CFE format, given as a number or as a string of its digits. */
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
      const found = String(value).length <= LONGEST_CODE ? JSON.stringify(String(value)) : 'a longer value';
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

/** The code of a branch, given as a number or as a string of its digits. */
const BranchNumber = z
  .custom<JsonNumber | string>((value) => typeof value === 'string' || value instanceof JsonNumber, {
    params: { expected: 'a branch' },
  })
  .transform((value, ctx) => {
    const digits = typeof value === 'string' ? value : value.text;
    if (/^[0-9]{1,4}$/.test(digits)) return Number(digits);
    const found = digits.length <= LONGEST_CODE ? JSON.stringify(digits) : 'a longer value';
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
    const found = value.length <= 20 ? JSON.stringify(value) : 'a longer string';
    addIssue(ctx, 'body.not_one_of', `must be three letters (an Incoterm) or N/A, found ${found}.`);
  })
  .meta({ pattern: '^([A-Za-z]{3}|N/A)$' });

/**
 * The keys of `extra` that mean something (docs/contract.md#extra); others are kept and returned to nobody.
 */
export const CfeExtra = z
  .looseObject({
    adenda: text(LENGTHS.adenda, { lineEnds: true }).meta(words(EXTRA_WORDS.adenda)).optional(),
    due_date: date({ earliest: '2000-01-01', latest: '2050-12-31' })
      .meta(words(EXTRA_WORDS.due_date))
      .optional(),
    unit: text(LENGTHS.unit).meta(words(EXTRA_WORDS.unit)).optional(),
    purchase_order: text(LENGTHS.purchaseOrder).meta(words(EXTRA_WORDS.purchase_order)).optional(),
    reference_reason: text(LENGTHS.referenceReason).meta(words(EXTRA_WORDS.reference_reason)).optional(),
    sale_condition: SaleCondition.meta(words(EXTRA_WORDS.sale_condition)).optional(),
    sale_mode: codeOf(SALE_MODES).meta(words(EXTRA_WORDS.sale_mode)).optional(),
    transport: codeOf(TRANSPORTS).meta(words(EXTRA_WORDS.transport)).optional(),
    information: text(LENGTHS.information).meta(words(EXTRA_WORDS.information)).optional(),
    branch: BranchNumber.meta(words(EXTRA_WORDS.branch)).optional(),
  })
  .meta({
    id: 'CfeExtra',
    description:
      'What the string in `extra` holds. Keys that are not listed here mean nothing to the service; together they take at most 16 KiB.',
  });
type ExtraKey = keyof typeof CfeExtra.shape;
export type ExtraValues = { [K in ExtraKey]?: z.output<(typeof CfeExtra.shape)[K]> };

/** What `extra` says: its sound keys, the keys at fault, the keys that we do not know, and every fault. */
export interface ReadExtra {
  readonly values: ExtraValues;
  readonly unsound: ReadonlySet<string>;
  readonly others: Readonly<Record<string, unknown>>;
  readonly faults: Fault[];
}

const AT = '/extra';
const KEYS = Object.keys(CfeExtra.shape) as ExtraKey[];
const ALL_UNSOUND: ReadonlySet<string> = new Set(KEYS);
/** Deeper nesting than this in unknown keys is refused: it could not be read back. */
const DEEPEST = 20;

/** The most that unknown keys may take together, in bytes of UTF-8, written as JSON without spaces. */
const MOST_OTHER_BYTES = 16_384;

/** Reads `extra`; faults point into the inner document: `/extra/adenda`. */
export function readExtra(extra: string | undefined): ReadExtra {
  if (extra === undefined) return { values: {}, unsound: new Set(), others: {}, faults: [] };
  const json = readJson(extra);
  if (!json.ok) {
    const faults = json.faults.map(withinExtra);
    return { values: {}, unsound: ALL_UNSOUND, others: {}, faults };
  }
  const { value } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof JsonNumber) {
    const fault = faultAt([], 'extra.not_object', 'must be a JSON object encoded as a string.', AT);
    return { values: {}, unsound: ALL_UNSOUND, others: {}, faults: [fault] };
  }
  const shape = CfeExtra.shape;
  const checked = check(CfeExtra, value, { at: AT });
  const others = Object.entries(value).filter(([key]) => !Object.hasOwn(shape, key));
  const faultsOfOthers: Fault[] = [];
  for (const [key, other] of others) addFaultsWithin(faultsOfOthers, other, [key]);
  const kept = faultsOfOthers.length > 0 ? {} : plain(Object.fromEntries(others));
  const bytes = new TextEncoder().encode(JSON.stringify(kept)).length;
  if (bytes > MOST_OTHER_BYTES) {
    const words = `the keys that the service does not know must have at most ${MOST_OTHER_BYTES} bytes of JSON together, found ${bytes}.`;
    faultsOfOthers.push(faultAt([], 'extra.too_large', words, AT));
  }
  const faults = [...(checked.ok ? [] : checked.faults), ...faultsOfOthers];
  const unsound = new Set(faults.map(({ path }) => path.split('/')[2] ?? ''));
  const values: Record<string, unknown> = {};
  for (const key of KEYS) {
    if (!unsound.has(key)) values[key] = shape[key].parse((value as Record<string, unknown>)[key]);
  }
  return {
    values: Object.fromEntries(Object.entries(values).filter(([, sound]) => sound !== undefined)),
    unsound,
    others: faults.length > 0 ? {} : kept,
    faults,
  };
}

/** A fault of the inner document as a fault of the request. */
function withinExtra({ path, code, message }: Fault): Fault {
  return { path: AT + path, code, message: path === '' ? `extra: ${message}` : `extra.${message}` };
}

/**
 * Adds the strings in an unknown key that cannot be stored as they are, at any depth, to `faults`, until there are
 * more than an answer lists; the names of keys count too. `path` is where `value` stands, and is the same afterwards.
 */
function addFaultsWithin(faults: Fault[], value: unknown, path: (string | number)[]): void {
  if (faults.length > MAX_FAULTS) return;
  const name = path.at(-1);
  const bad =
    (typeof name === 'string' ? badCharacter(name) : undefined) ??
    (typeof value === 'string' ? badCharacter(value) : undefined);
  if (bad) {
    faults.push(faultAt(path, bad.code, bad.message, AT));
    return;
  }
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return;
  if (path.length >= DEEPEST) {
    const words = `must not be nested more than ${DEEPEST} levels deep.`;
    faults.push(faultAt(path.slice(0, 1), 'extra.too_deep', words, AT));
    return;
  }
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    path.push(key);
    addFaultsWithin(faults, (value as Record<string | number, unknown>)[key], path);
    path.pop();
  }
}

/** JSON as data that survives storing: a number that binary cannot hold exactly becomes a string. */
function plain(value: object): Record<string, unknown>;
function plain(value: unknown): unknown;
function plain(value: unknown): unknown {
  if (value instanceof JsonNumber)
    return String(Number(value.text)) === value.text ? Number(value.text) : value.text;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
