/** JSON whose decimals are exact in both directions. */
import { Decimal } from './decimal.ts';
import { DECIMAL_FIELDS } from './operations.ts';

/** Both are in Node from 22 on; TypeScript's library does not name them yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

// Prevents amounts from losing digits silently.
const sourceOf: Reviver = (_, __, context) => context?.source;
const isExact =
  typeof rawJSON === 'function' && JSON.parse('1.10', sourceOf as (key: string) => unknown) === '1.10';
if (!isExact || typeof AbortSignal.any !== 'function') {
  throw new Error(
    'cfe-sdk needs Node 22 or later, or an engine with JSON.rawJSON, the source in the reviver of JSON.parse, and AbortSignal.any',
  );
}

const FIELDS: ReadonlySet<string> = new Set(DECIMAL_FIELDS);

const asDecimals: Reviver = (key, value, { source }) =>
  typeof value === 'number' && source !== undefined && FIELDS.has(key) ? Decimal.of(source) : value;

/** Parses JSON of the API, with decimals as `Decimal`. Throws SyntaxError. */
export const readJson = (text: string): unknown =>
  JSON.parse(text, asDecimals as (key: string, value: unknown) => unknown);

/** Writes JSON; a `Decimal` as a number with its exact digits. */
export const writeJson = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key: string, simple: unknown) {
    const own = this[key];
    return own instanceof Decimal ? rawJSON(own.toString()) : simple;
  });
