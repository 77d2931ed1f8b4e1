import * as z from 'zod';
import type { Fault } from '../errors.ts';
import type { BodyRule } from './bodyRules.ts';
import { JsonNumber } from './decimal.ts';
import { nearest } from './nearest.ts';

/** Words on fields that callers of older layouts send, by name: which field to use now. */
export type Hints = Readonly<Record<string, string>>;

/** How input is read: by which schema, with which hints, and where it stands ('' is the body itself). */
export interface Reading {
  readonly hints?: Hints;
  /** JSON Pointer put before the paths: `/query`, `/extra`. */
  readonly at?: string;
}

/** Either what a schema made of the input, or everything that is wrong with it. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: Fault[] };

/** No answer lists more faults than this. */
export const MAX_FAULTS = 1000;
const LONGEST_ECHO = 40;
/** Unknown fields of one object that get advice: who sends more has not misspelt a name. */
const MOST_ADVICE = 100;
const NOT_A_FIELD = 'is not a field here.';

type Key = string | number;

/** Reads `input` by `schema`: the value, or all its faults at once with paths as JSON Pointers. */
export function check<T>(schema: z.ZodType<T>, input: unknown, reading: Reading = {}): Checked<T> {
  const result = schema.safeParse(input);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, faults: faultsOf(result.error, input, { ...reading, schema }) };
}

/** What zod found in `input`, as faults in the order of the schema, each place and code once. */
function faultsOf(
  error: z.ZodError,
  input: unknown,
  reading: Reading & { readonly schema?: z.ZodType } = {},
): Fault[] {
  const faults = new Map<string, Fault>();
  for (const issue of error.issues) {
    for (const fault of faultsOfIssue(issue, input, reading)) {
      const key = `${fault.path} ${fault.code}`;
      if (!faults.has(key)) faults.set(key, fault);
    }
  }
  return limited([...faults.values()]);
}

/** `faults`, cut after the first thousand with a last one that says so. */
export function limited(faults: Fault[]): Fault[] {
  if (faults.length <= MAX_FAULTS) return faults;
  const message = `There are ${faults.length} faults; the first ${MAX_FAULTS} are listed.`;
  return [...faults.slice(0, MAX_FAULTS), { path: '', code: 'body.more_faults', message }];
}

/** A fault at `path` whose message opens with the field's name as people write it: `details[0].count: …`. */
export function faultAt(path: readonly Key[], code: string, words: string, at = ''): Fault {
  const name = fieldName([...at.split('/').slice(1), ...path]);
  const message = name === '' ? capital(words) : `${name}: ${words}`;
  return { path: at + pointer(path), code, message };
}

/** The JSON Pointer (RFC 6901) of a path; '' is the whole. */
export function pointer(path: readonly Key[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function fieldName(path: readonly Key[]): string {
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i ? '.' : ''}${brief(key)}`))
    .join('');
}

const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** A name as it is echoed: cut when long, with nothing in it that would spoil a terminal. */
function brief(name: string): string {
  const clean = name.replace(/[\p{Cc}\p{Cs}]/gu, '\u{FFFD}');
  return clean.length <= LONGEST_ECHO ? clean : `${Array.from(clean).slice(0, LONGEST_ECHO).join('')}…`;
}

function faultsOfIssue(
  issue: z.core.$ZodIssue,
  input: unknown,
  { schema, hints, at = '' }: Reading & { readonly schema?: z.ZodType },
): Fault[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  const fault = (code: BodyRule, words: string, where: readonly Key[] = path) =>
    faultAt(where, code, words, at);
  const figure = placeOfFigure(input, path, issue.code === 'unrecognized_keys');
  if (figure) return [fault('body.wrong_type', 'an object is expected, found a number.', figure)];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key, i) => {
      const words = i < MOST_ADVICE ? unknownField(key, path, schema, hints) : NOT_A_FIELD;
      return fault('body.unknown_field', words, [...path, key]);
    });
  }
  if (issue.code === 'custom' && typeof issue.params?.['code'] === 'string') {
    return [fault(issue.params['code'] as BodyRule, issue.message)];
  }
  const value = valueAt(input, path);
  const expected = expectedBy(issue);
  if (value === undefined) return [fault('body.missing', `is missing; ${expected} is expected.`)];
  if (value === null)
    return [fault('body.null', `null is no value; leave the field out or give ${expected}.`)];
  return [fault(...wordsFor(issue, value, expected))];
}

/** The code and words for an issue of zod's own about a value that is there. */
function wordsFor(issue: z.core.$ZodIssue, value: unknown, expected: string): [BodyRule, string] {
  if (issue.code === 'invalid_value' && typeof value === 'string') {
    const found = value.length <= LONGEST_ECHO ? JSON.stringify(value) : 'a longer text';
    return ['body.not_one_of', `${expected} is expected, found ${found}.`];
  }
  if (issue.code === 'too_small' && Array.isArray(value)) {
    return ['list.too_short', `at least ${issue.minimum} is expected, found ${value.length || 'none'}.`];
  }
  if (issue.code === 'too_big' && Array.isArray(value)) {
    return ['list.too_long', `at most ${issue.maximum} are expected, found ${value.length}.`];
  }
  return ['body.wrong_type', `${expected} is expected, found ${kindOf(value)}.`];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  object: 'an object',
  array: 'a list',
  boolean: 'true or false',
};

function expectedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? issue.expected;
  if (issue.code === 'custom')
    return typeof issue.params?.['expected'] === 'string' ? issue.params['expected'] : 'a value';
  if (issue.code !== 'invalid_value') return 'another value';
  const values = issue.values.map((value) => JSON.stringify(value)).join(', ');
  return issue.values.length === 1 ? values : `one of ${values}`;
}

function kindOf(value: unknown): string {
  if (value instanceof JsonNumber || typeof value === 'number') return 'a number';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'boolean' ? String(value) : (KINDS[typeof value] ?? 'another value');
}

function childOf(value: unknown, key: Key): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<Key, unknown>)[key];
}

function valueAt(input: unknown, path: readonly Key[]): unknown {
  return path.reduce(childOf, input);
}

/** Where a number stands on the way to `path` that should have been an object (a JsonNumber is one to zod). */
function placeOfFigure(input: unknown, path: readonly Key[], itself: boolean): Key[] | undefined {
  for (let depth = 0; depth < path.length + (itself ? 1 : 0); depth += 1) {
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
  if (hint !== undefined) return `is not a field here; ${hint}.`;
  if (schema === undefined) return NOT_A_FIELD;
  const here = nearest(key, fieldsAt(schema, path));
  if (here !== undefined) return `is not a field here; did you mean ${JSON.stringify(here)}?`;
  const elsewhere = placesOf(key, schema, [])[0];
  return elsewhere ? `is not a field here; its place is ${fieldName(elsewhere)}.` : NOT_A_FIELD;
}

/** A schema without what wraps it: optional, default, transformed. */
function bare(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return bare(schema.unwrap());
  return schema instanceof z.ZodPipe ? bare(schema.in) : schema;
}

function fieldsAt(schema: z.ZodType, path: readonly Key[]): string[] {
  let at = bare(schema);
  for (const key of path) {
    if (at instanceof z.ZodObject) at = bare(at.shape[key]);
    else if (at instanceof z.ZodArray) at = bare(at.element);
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

/** The places of objects (not of lists) of `schema` that have a field `key`. */
function placesOf(key: string, schema: unknown, path: readonly Key[]): Key[][] {
  const at = bare(schema);
  if (!(at instanceof z.ZodObject)) return [];
  const here = path.length > 0 && Object.hasOwn(at.shape, key) ? [[...path, key]] : [];
  return [
    ...here,
    ...Object.entries(at.shape).flatMap(([name, field]) => placesOf(key, field, [...path, name])),
  ];
}
