/**
 * Keyset cursors: where a page of a list ended, as an opaque text that is safe in an address. The next page begins behind it,
 * whatever was added or removed meanwhile, and costs the same however far it is.
 */
import { isDate } from './montevideo.ts';
import { isUuid } from './uuid.ts';

/** What one value of a key may be, so that whatever a cursor holds is a value that the database can compare with. */
const KINDS = {
  text: (text: string) => text.length <= 1_000 && !text.includes('\0'),
  number: (text: string) => /^-?\d{1,15}$/.test(text),
  uuid: isUuid,
  date: isDate,
  /** ISO 8601 with a zone, to the microsecond. */
  moment: (text: string) =>
    /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d(:?\d\d)?)$/.test(text) &&
    isDate(text.slice(0, 10)) &&
    !Number.isNaN(Date.parse(text.replace(/([+-]\d\d)$/, '$1:00'))),
} as const;
export type KeyPart = keyof typeof KINDS;

/** Longest cursor that is looked at. */
const LONGEST = 4_000;

/** The cursor of a key. */
export const cursorOf = (values: readonly string[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

/** The key of a cursor whose parts are of these kinds; null for a text that is no such cursor. */
export function valuesOf(cursor: string, parts: readonly KeyPart[]): string[] | null {
  if (cursor.length > LONGEST || !/^[\w-]+$/.test(cursor)) return null;
  const values = parsed(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (!Array.isArray(values) || values.length !== parts.length) return null;
  const isKey = parts.every((part, i) => typeof values[i] === 'string' && KINDS[part](values[i]));
  return isKey ? (values as string[]) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
