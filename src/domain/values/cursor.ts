/**
 * Keyset cursors: the key of a page's last row as opaque text, safe in a URL. The next page starts after it, regardless of
 * added or removed rows, at a constant cost.
 */
import { isDate } from './montevideo.ts';
import { isUuid } from './uuid.ts';

/** The kinds of values in a key; validation ensures that the database can compare them. */
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

/** The longest accepted cursor. */
const LONGEST = 4_000;

/** Encodes a key as a cursor. */
export const encodeCursor = (values: readonly string[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

/** Decodes a cursor into a key with parts of these kinds; null for an invalid cursor. */
export function decodeCursor(cursor: string, parts: readonly KeyPart[]): string[] | null {
  if (cursor.length > LONGEST || !/^[\w-]+$/.test(cursor)) return null;
  const values = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (!Array.isArray(values) || values.length !== parts.length) return null;
  const isKey = parts.every((part, i) => typeof values[i] === 'string' && KINDS[part](values[i]));
  return isKey ? (values as string[]) : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
