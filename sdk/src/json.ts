/** JSON whose decimals are exact in both directions. */
import { Decimal } from './decimal.ts';
import { DECIMAL_FIELDS } from './operations.ts';

/** Both are in every engine from Node 22 on; TypeScript's library does not name them yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const FIELDS: ReadonlySet<string> = new Set(DECIMAL_FIELDS);

const asDecimals: Reviver = (key, value, { source }) =>
  typeof value === 'number' && source !== undefined && FIELDS.has(key) ? Decimal.of(source) : value;

/** Reads JSON of the API; its decimals as `Decimal`. Throws SyntaxError. */
export const readJson = (text: string): unknown =>
  JSON.parse(text, asDecimals as (key: string, value: unknown) => unknown);

/** Writes JSON; a `Decimal` as the number that it is. */
export const writeJson = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key: string, simple: unknown) {
    const own = this[key];
    return own instanceof Decimal ? rawJSON(own.toString()) : simple;
  });
