/** The file with a month's receipts (docs/console.md#a-months-receipts). */
import * as z from 'zod';
import { addDays, isDate } from '../values/montevideo.ts';

/** How long a finished file is kept. */
export const EXPORT_KEPT_DAYS = 7;
/** The most receipts in an export with printed forms: each takes 50 ms. */
export const MOST_PRINTED = 1_000;
/** The most finished and running exports of an enterprise. */
export const MOST_EXPORTS = 10;
/** The most running exports over all enterprises of an account. */
export const MOST_RUNNING_EXPORTS = 2;

export type ExportState = 'RUNNING' | 'DONE' | 'STOPPED';

/** Schema of a calendar month, `YYYY-MM`. */
export const Month = z
  .string()
  .refine((value) => isDate(`${value}-01`), 'must be a month of the form YYYY-MM.');

/** Returns the first and the last day of a month. */
export function daysOfMonth(month: string): { readonly first: string; readonly last: string } {
  const first = `${month}-01`;
  const dayInNextMonth = addDays(first, 31);
  return { first, last: addDays(`${dayInNextMonth.slice(0, 7)}-01`, -1) };
}

/** Returns the month before the month of a date. */
export const monthBefore = (date: string): string => addDays(`${date.slice(0, 7)}-01`, -1).slice(0, 7);
