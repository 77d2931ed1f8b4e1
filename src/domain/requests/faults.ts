import * as z from 'zod';
import { type Fault, invalidInput } from '../../errors.ts';
import { JsonNumber } from '../values/decimal.ts';
import { quoted } from '../values/issue.ts';
import type { BodyRule } from './bodyRules.ts';

/** Advice on fields of older layouts, by name: the field to use now. */
export type Hints = Readonly<Record<string, string>>;

/** Options for reading input. */
export interface Reading {
  readonly hints?: Hints;
  /** JSON Pointer before the paths: `/query`, `/extra`; '' for the body. */
  readonly at?: string;
}

/** The value read by a schema, or all faults of the input. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: Fault[] };

/** The most faults in one response. */
export const MAX_FAULTS = 1000;
const LONGEST_ECHO = 40;
/** The most unknown fields with advice: more are not misspelt names. */
const MOST_ADVICE = 100;
const NOT_A_FIELD = 'unknown field.';

type Key = string | number;

/** Reads `input` with `schema`. Returns the value, or all faults with paths as JSON Pointers. */
export function checkInput<T>(schema: z.ZodType<T>, input: unknown, reading: Reading = {}): Checked<T> {
  const result = schema.safeParse(input);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, faults: faultsOf(result.error, input, { ...reading, schema }) };
}

/** Returns `input` as read by `schema`. Throws INVALID_INPUT with all its faults. */
export function parseOrRefuse<T>(schema: z.ZodType<T>, input: unknown): T {
  const checked = checkInput(schema, input);
  if (checked.ok) return checked.value;
  throw invalidInput(checked.faults);
}

/**
 * Converts zod's issues into faults in the order of the schema, each path and code once. Stops at the limit of a response,
 * so that a megabyte of unknown fields is refused as quickly as a thousand.
 */
function faultsOf(
  error: z.ZodError,
  input: unknown,
  reading: Reading & { readonly schema?: z.ZodType } = {},
): Fault[] {
  const faults = new Map<string, Fault>();
  const advice = { left: MOST_ADVICE };
  for (const issue of error.issues) {
    for (const fault of faultsOfIssue(issue, input, reading, advice)) {
      const key = `${fault.path} ${fault.code}`;
      if (!faults.has(key)) faults.set(key, fault);
      if (faults.size > MAX_FAULTS) return limitFaults([...faults.values()]);
    }
  }
  return [...faults.values()];
}

/** Returns the first thousand faults, and a last one that announces more. */
export function limitFaults(faults: Fault[]): Fault[] {
  if (faults.length <= MAX_FAULTS) return faults;
  const message = `There are more than ${MAX_FAULTS} faults; the first ${MAX_FAULTS} are listed.`;
  return [...faults.slice(0, MAX_FAULTS), { path: '', code: 'body.more_faults', message }];
}

/** Creates a fault at `path`. Its message starts with the field name: `details[0].count: must …`. */
export function faultAt(path: readonly Key[], code: string, words: string, at = ''): Fault {
  const name = fieldName([...at.split('/').slice(1), ...path]);
  const message = name === '' ? capital(words) : `${name}: ${words}`;
  return { path: at + pointer(path), code, message };
}

/** Returns the JSON Pointer (RFC 6901) of a path; '' is the whole document. @internal exported for tests */
export function pointer(path: readonly Key[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function fieldName(path: readonly Key[]): string {
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i ? '.' : ''}${brief(key)}`))
    .join('');
}

const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** Shortens a name for a message and replaces characters that would break a terminal. */
function brief(name: string): string {
  const clean = name.replace(/[\p{Cc}\p{Cs}]/gu, '\u{FFFD}');
  return clean.length <= LONGEST_ECHO ? clean : `${Array.from(clean).slice(0, LONGEST_ECHO).join('')}…`;
}

function* faultsOfIssue(
  issue: z.core.$ZodIssue,
  input: unknown,
  { schema, hints, at = '' }: Reading & { readonly schema?: z.ZodType },
  advice: { left: number },
): Generator<Fault> {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  const fault = (code: BodyRule, words: string, where: readonly Key[] = path) =>
    faultAt(where, code, words, at);
  const number = pathOfNumber(input, path, issue.code === 'unrecognized_keys');
  if (number) {
    yield fault('body.wrong_type', 'must be an object, found a number.', number);
  } else if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) {
      const words = advice.left > 0 ? unknownField(key, path, schema, hints) : NOT_A_FIELD;
      advice.left -= 1;
      yield fault('body.unknown_field', words, [...path, key]);
    }
  } else if (issue.code === 'custom' && typeof issue.params?.['code'] === 'string') {
    yield fault(issue.params['code'] as BodyRule, issue.message);
  } else {
    const value = valueAt(input, path);
    const expected = expectedBy(issue);
    if (value === undefined) yield fault('body.missing', `is required and must be ${expected}.`);
    else if (value === null)
      yield fault('body.null', `must not be null; omit the field or give ${expected}.`);
    else yield fault(...wordsFor(issue, value, expected));
  }
}

/** Returns code and message for one of zod's own issues with an existing value. */
function wordsFor(issue: z.core.$ZodIssue, value: unknown, expected: string): [BodyRule, string] {
  if (issue.code === 'invalid_value' && typeof value === 'string') {
    return ['body.not_one_of', `must be ${expected}, found ${quoted(value, LONGEST_ECHO)}.`];
  }
  if (issue.code === 'too_small' && Array.isArray(value)) {
    return [
      'list.too_short',
      `must have at least ${issue.minimum} ${issue.minimum === 1 ? 'item' : 'items'}, found ${value.length || 'none'}.`,
    ];
  }
  if (issue.code === 'too_big' && Array.isArray(value)) {
    return ['list.too_long', `must have at most ${issue.maximum} items, found ${value.length}.`];
  }
  return ['body.wrong_type', `must be ${expected}, found ${kindOf(value)}.`];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  object: 'an object',
  array: 'an array',
  boolean: 'true or false',
};

function expectedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? issue.expected;
  if (issue.code === 'custom')
    return typeof issue.params?.['expected'] === 'string' ? issue.params['expected'] : 'a value';
  if (issue.code === 'invalid_format') return `a valid ${issue.format}`;
  if (issue.code !== 'invalid_value') return 'another value';
  const values = issue.values.map((value) => JSON.stringify(value)).join(', ');
  return issue.values.length === 1 ? values : `one of ${values}`;
}

function kindOf(value: unknown): string {
  if (value instanceof JsonNumber || typeof value === 'number') return 'a number';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'boolean' ? String(value) : (KINDS[typeof value] ?? 'another value');
}

function childOf(value: unknown, key: Key): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<Key, unknown>)[key];
}

/** Returns the value at `path` in `input`; undefined if it does not exist. */
export function valueAt(input: unknown, path: readonly Key[]): unknown {
  return path.reduce(childOf, input);
}

/** Returns the first part of `path` with a number instead of an object: zod treats a JsonNumber as an object. */
function pathOfNumber(input: unknown, path: readonly Key[], includesEnd: boolean): Key[] | undefined {
  for (let depth = 0; depth < path.length + (includesEnd ? 1 : 0); depth += 1) {
    if (valueAt(input, path.slice(0, depth)) instanceof JsonNumber) return path.slice(0, depth);
  }
  return undefined;
}

function unknownField(
  key: string,
  path: readonly Key[],
  schema: z.ZodType | undefined,
  hints: Hints = {},
): string {
  const hint = Object.hasOwn(hints, key) ? hints[key] : undefined;
  if (hint !== undefined) return `unknown field; ${hint}.`;
  if (schema === undefined) return NOT_A_FIELD;
  const fields = fieldsAt(schema, path);
  const here = nearest(key, fields) ?? onlyFieldEndingIn(key, fields);
  if (here !== undefined) return `unknown field; did you mean ${JSON.stringify(here)}?`;
  const elsewhere = pathsOfField(key, schema, [])[0];
  return elsewhere ? `unknown field; it belongs at ${fieldName(elsewhere)}.` : NOT_A_FIELD;
}

/** Returns the only field that ends in `_key`: `cfe_status` for `status`. */
function onlyFieldEndingIn(key: string, fields: readonly string[]): string | undefined {
  const [match, another] = fields.filter((field) => field.endsWith(`_${key}`));
  return another === undefined ? match : undefined;
}

/** Removes the wrappers of a schema (optional, default, transform). */
function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return unwrap(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrap(schema.in) : schema;
}

function fieldsAt(schema: z.ZodType, path: readonly Key[]): string[] {
  let at = unwrap(schema);
  for (const key of path) {
    if (at instanceof z.ZodObject) at = unwrap(at.shape[key]);
    else if (at instanceof z.ZodArray) at = unwrap(at.element);
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

/** Returns the paths of fields named `key` in the objects of `schema`, arrays excluded. */
function pathsOfField(key: string, schema: unknown, path: readonly Key[]): Key[][] {
  const at = unwrap(schema);
  if (!(at instanceof z.ZodObject)) return [];
  const here = path.length > 0 && Object.hasOwn(at.shape, key) ? [[...path, key]] : [];
  return [
    ...here,
    ...Object.entries(at.shape).flatMap(([name, field]) => pathsOfField(key, field, [...path, name])),
  ];
}

/** Returns the candidate with at most two typing errors (ignoring case), or undefined. */
function nearest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  let best: { candidate: string; slips: number } | undefined;
  for (const candidate of candidates) {
    const most = Math.min(2, Math.floor(candidate.length / 3));
    if (Math.abs(candidate.length - wanted.length) > most) continue;
    const slips = slipsBetween(wanted, candidate.toLowerCase());
    if (slips <= most && slips < (best?.slips ?? Number.POSITIVE_INFINITY)) best = { candidate, slips };
  }
  return best?.candidate;
}

/** Counts inserted, missing, changed and swapped letters (optimal string alignment). */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let slips = Math.min(change, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        slips = Math.min(slips, (before[j - 2] ?? 0) + 1);
      }
      row.push(slips);
    }
    before = above;
    above = row;
  }
  return above[b.length] ?? 0;
}
