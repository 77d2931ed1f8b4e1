import { JsonNumber } from '../../../src/domain/values/decimal.ts';

/** JSON whose numbers stand as they are written, so that tests say `2.0000` or `1e2` when they mean it. */
export type Json = string | boolean | null | JsonNumber | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The number written `text`. */
export const num = (text: string | number | bigint): JsonNumber => new JsonNumber(String(text));

/** The text of JSON, numbers as written. */
export function toJson(value: Json): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${toJson(inner)}`)
    .join(',')}}`;
}

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const asWritten: SourceReviver = (_, value, { source }) =>
  typeof value === 'number' ? new JsonNumber(source ?? '') : value;

/** Reads JSON with its numbers as written, by the engine's own parser (which does not see a key given twice). */
export function fromJson(text: string): Json {
  return JSON.parse(text, asWritten as (key: string, value: unknown) => unknown) as Json;
}

/** A deep copy. */
function copyOf<T extends Json>(value: T): T {
  if (value instanceof JsonNumber) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)])) as T;
}

const keysOf = (pointer: string): string[] => pointer.split('/').slice(1);

/** What stands at a JSON Pointer; a mistake of the test when nothing does. */
export function get(body: Json, pointer: string): Json {
  let value: Json | undefined = body;
  for (const key of keysOf(pointer)) {
    if (typeof value !== 'object' || value === null || value instanceof JsonNumber)
      throw new Error(`no ${pointer}`);
    value = Array.isArray(value) ? value[Number(key)] : value[key];
  }
  if (value === undefined) throw new Error(`nothing at ${pointer}`);
  return value;
}

/** A copy with `value` at a JSON Pointer, or without what stands there. */
export function put(body: JsonObject, pointer: string, value: Json | undefined): JsonObject {
  const copy = copyOf(body);
  const keys = keysOf(pointer);
  const last = keys.pop() ?? '';
  const owner = get(copy, keys.map((key) => `/${key}`).join(''));
  if (Array.isArray(owner)) {
    if (value === undefined) owner.splice(Number(last), 1);
    else owner[Number(last)] = value;
  } else if (typeof owner === 'object' && owner !== null && !(owner instanceof JsonNumber)) {
    if (value === undefined) delete owner[last];
    else owner[last] = value;
  }
  return copy;
}
