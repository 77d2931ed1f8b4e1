/** Pages of tables that may be very large. */
import type { KeyPart } from '../domain/values/cursor.ts';
import { LEAST_UUID } from '../domain/values/uuid.ts';

/** Rows created before a moment, by UUID, after the UUID of the last page. */
export interface UuidPage {
  readonly before: Date;
  /** Empty: from the beginning. */
  readonly after: string;
  readonly limit: number;
}

/** Returns the arguments for `em.find`: the rows of a page, or all rows, oldest first. */
export const pageCriteria = (page: UuidPage | undefined) => ({
  where: page ? { id: { $gt: page.after || LEAST_UUID }, createdAt: { $lt: page.before } } : {},
  options: page
    ? { orderBy: { id: 'asc' as const }, limit: page.limit }
    : { orderBy: { createdAt: 'asc' as const, id: 'asc' as const } },
});

/** A page of a list: at most `limit` rows after the row with the key `after`, in the list's order. */
export interface ListPage {
  readonly after: readonly string[] | null;
  readonly limit: number;
}

/** Declares the order of a list once, for `em.find` and for cursors: the kinds of its key's fields, by name. */
export function listOrder<const F extends Readonly<Record<string, KeyPart>>>(
  fields: F,
  direction: 'asc' | 'desc' = 'asc',
) {
  const names: (keyof F & string)[] = Object.keys(fields);
  const beyond = direction === 'asc' ? '$gt' : '$lt';
  return {
    parts: Object.values(fields),
    /** Returns the key of a row. */
    of: (row: Readonly<Record<keyof F, string | Date>>): string[] =>
      names
        .map((name): string | Date => row[name])
        .map((value) => (value instanceof Date ? value.toISOString() : value)),
    orderBy: Object.fromEntries(names.map((name) => [name, direction])) as Record<keyof F, 'asc' | 'desc'>,
    /** Returns the condition of the rows after a key: larger in one field, and equal in those before it. */
    after(key: readonly string[] | null): object {
      const equal = (end: number) =>
        Object.fromEntries(names.slice(0, end).map((name, i) => [name, key?.[i]]));
      return key ? { $or: names.map((name, i) => ({ ...equal(i), [name]: { [beyond]: key[i] } })) } : {};
    },
  };
}

/** Newest first; `id`: the kind of the rows' ids. */
export const newestFirst = (id: KeyPart) => listOrder({ createdAt: 'moment', id }, 'desc');
export const BY_RUT = listOrder({ rut: 'text' });
/** By a serial number, the largest first. */
export const BY_SERIAL = listOrder({ id: 'number' }, 'desc');
