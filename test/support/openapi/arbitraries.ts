/** Values by the schemas of the OpenAPI document: such as fit, and such as almost fit. */
import fc from 'fast-check';

/** A JSON Schema as the document has them, as far as arbitraries read it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  pattern?: string;
  format?: string;
  contentEncoding?: string;
  contentMediaType?: string;
  examples?: unknown[];
}

/** Finds what a reference names. */
export type Resolve = (reference: string) => Schema;

/** Texts that have broken programs before. */
const NASTY = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\uffff',
  ' ',
  '\n',
  "'; drop table cfe; --",
  '%',
  '_',
  '\\',
  '<x>&amp;]]>',
  '__proto__',
  'Ñandú 😀',
  '{today}',
];

/** Values that fit `schema`. */
export function fitting(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return fitting(resolve(schema.$ref), resolve);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => fitting(one, resolve)));
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => fitting({ ...schema, type }, resolve)));
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000_000, max: schema.maximum ?? 1_000_000 });
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(fitting(schema.items ?? {}, resolve), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, 4),
      });
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, fitting(inner, resolve)]),
        ),
        { requiredKeys: schema.required ?? [], noNullPrototype: true },
      );
    case undefined:
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

/** The pattern that every text has: made below, with such texts as break programs. */
const isOfTexts = (pattern: string): boolean => pattern.startsWith('^[^\\u0000');

function textOf(schema: Schema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 60, examples = [] } = schema;
  const known = examples.filter((example) => typeof example === 'string');
  const within = NASTY.filter(({ length }) => length >= minLength && length <= maxLength);
  const made =
    schema.format === 'date'
      ? fc
          .date({ min: new Date('2000-01-01'), max: new Date('2060-12-31'), noInvalidDate: true })
          .map((day) => day.toISOString().slice(0, 10))
      : schema.pattern !== undefined && !isOfTexts(schema.pattern)
        ? fc.stringMatching(new RegExp(schema.pattern))
        : schema.contentEncoding === 'base64'
          ? fc.base64String({ minLength: 4, maxLength: 400 })
          : schema.contentMediaType === 'application/json'
            ? fc.json({ maxDepth: 3 })
            : fc.oneof(
                fc.string({ minLength, maxLength: Math.min(maxLength, 60) }),
                fc.string({ minLength, maxLength: Math.min(maxLength, 60), unit: 'grapheme' }),
                fc.string({ minLength: Math.min(maxLength, 1_100), maxLength: Math.min(maxLength, 1_100) }),
                ...(within.length > 0 ? [fc.constantFrom(...within)] : []),
              );
  return known.length > 0 ? fc.oneof(made, fc.constantFrom(...known)) : made;
}

/** Mostly amounts as people write them; now and then the ends of the range, and more digits than anybody takes. */
function numberOf(schema: Schema): fc.Arbitrary<number> {
  // The ends of an open range are no values of it; the next cent is.
  const minimum = schema.minimum ?? (schema.exclusiveMinimum ?? -1e15) + 0.01;
  const maximum = schema.maximum ?? (schema.exclusiveMaximum ?? 1e15) - 0.01;
  const most = Math.min(maximum, 1e9);
  const least = Math.max(minimum, -1e9);
  const cents = fc.integer({ min: Math.ceil(least), max: Math.floor(most) }).map((whole) => whole / 100);
  return fc.oneof(
    { weight: 8, arbitrary: cents.filter((value) => value >= minimum && value <= maximum) },
    { weight: 1, arbitrary: fc.constantFrom(minimum, maximum) },
    { weight: 1, arbitrary: fc.double({ min: minimum, max: maximum, noNaN: true }) },
  );
}

/** Values that fit `schema` but for one place; a few of them fit all the same. */
export function misfitting(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  return alteredOnce(fitting(schema, resolve));
}

/** `values`, each changed in one place. */
export function alteredOnce(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(values, fc.nat(), fc.nat(), fc.jsonValue({ maxDepth: 2 }))
    .map(([value, where, how, other]) => {
      const places = placesOf(value);
      return changed(value, places[where % places.length] ?? [], how, other);
    });
}

type Place = readonly string[];

function placesOf(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...at, key]))];
}

function changed(value: unknown, [key, ...rest]: Place, how: number, other: unknown): unknown {
  if (key === undefined) return wrong(value, how, other);
  if (Array.isArray(value)) return value.with(Number(key), changed(value[Number(key)], rest, how, other));
  const fields = value as Record<string, unknown>;
  // One time in six the field goes.
  if (rest.length === 0 && how % 6 === 0) {
    return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
  }
  return { ...fields, [key]: changed(fields[key], rest, how, other) };
}

function wrong(value: unknown, how: number, other: unknown): unknown {
  const ways: unknown[] = [
    null,
    other,
    [value],
    '',
    typeof value === 'number' ? value + 0.01 : -1,
    typeof value === 'number' ? -value : 0.001,
    1e300,
    typeof value === 'string' ? value + 'x'.repeat(20_000) : String(value),
    typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value, surprise: other } : {},
  ];
  return ways[how % ways.length];
}
