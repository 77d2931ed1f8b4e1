/** Canonical JSON: two requests mean the same if their canonical texts are equal. */
import { canonicalNumber, JsonNumber } from './decimal.ts';

/**
 * Returns the canonical text of a value from `readJson`: sorted names, no blanks, exact numbers in one form, strings
 * escaped like JSON.stringify. The order of arrays is kept.
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
