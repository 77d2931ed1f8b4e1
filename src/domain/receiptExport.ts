/** A month's receipts as one file: what it is and how long it is there (docs/console.md#a-months-receipts). */
import * as z from 'zod';
import { addDays, isDate } from './montevideo.ts';

/** So long a file is there after it was made. */
export const EXPORT_KEPT_DAYS = 7;
/** Printed forms are drawn for a month of at most so many receipts: a print takes a twentieth of a second. */
export const MOST_PRINTED = 1_000;
/** Files that are there or being made, of one enterprise. */
export const MOST_EXPORTS = 10;
/** Files that are being made at a time, of all enterprises of an account. */
export const MOST_RUNNING_EXPORTS = 2;

export type ExportState = 'RUNNING' | 'DONE' | 'STOPPED';

/** A schema for a month of the calendar, `YYYY-MM`. */
export const Month = z
  .string()
  .refine((value) => isDate(`${value}-01`), 'must be a month of the form YYYY-MM.');

/** The first and the last day of a month. */
export function daysOfMonth(month: string): { readonly first: string; readonly last: string } {
  const first = `${month}-01`;
  const inNext = addDays(first, 31);
  return { first, last: addDays(`${inNext.slice(0, 7)}-01`, -1) };
}

/** The month before that of a date. */
export const monthBefore = (date: string): string => addDays(`${date.slice(0, 7)}-01`, -1).slice(0, 7);
