/** The one form of a JSON value, whatever the bytes that it was read from: two requests mean the same if these are equal. */
import { canonicalNumber, JsonNumber } from './decimal.ts';

/**
 * The canonical text of a value as `readJson` reads it: names sorted, no blanks, exact numbers in one form, strings
 * escaped as JSON.stringify does. The order of an array counts.
 */
export function canonicalJson(value: unknown): string {
  if (value instanceof JsonNumber) return canonicalNumber(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, part]) => `${JSON.stringify(name)}:${canonicalJson(part)}`);
  return `{${fields.join(',')}}`;
}
