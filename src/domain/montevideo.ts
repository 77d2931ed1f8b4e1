/**
 * Time in Montevideo as pure arithmetic: UTC−3 all year, without summer time since 2015. Dates are `YYYY-MM-DD`.
 * Imports nothing, so that workflows may use it.
 */

const OFFSET_MINUTES = -180;
const OFFSET_TEXT = '-03:00';
const MINUTE = 60_000;
const DAY = 86_400_000;

const local = (instant: Date) => new Date(instant.getTime() + OFFSET_MINUTES * MINUTE).toISOString();

/** The date that the calendar shows in Montevideo at `instant`. */
export function montevideoDate(instant: Date): string {
  return local(instant).slice(0, 10);
}

/** `instant` as TmstFirma is written: `YYYY-MM-DDTHH:MM:SS-03:00`, without fractions of a second. */
export function montevideoTimestamp(instant: Date): string {
  return `${local(instant).slice(0, 19)}${OFFSET_TEXT}`;
}

/** The instant of a Montevideo date and time without zone (`YYYY-MM-DDTHH:MM:SS`), or undefined when it is none. */
export function instantOfMontevideo(dateTime: string): Date | undefined {
  const parts = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.exec(dateTime);
  if (parts === null || !isDate(parts[1] ?? '')) return undefined;
  return new Date(`${dateTime}${OFFSET_TEXT}`);
}

/** Whether `text` is a day of the calendar written `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Days from `from` to `to`; below zero when `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY;
}

/** The date `days` after `date` (before it when below zero). */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10);
}

/** The instant at which a date begins in Montevideo. */
export const startOfDay = (date: string): Date => new Date(`${date}T00:00:00${OFFSET_TEXT}`);

/** Whole seconds from `instant` to the end of its day in Montevideo, at least 1. */
export const secondsToMidnight = (instant: Date): number =>
  Math.ceil((startOfDay(addDays(montevideoDate(instant), 1)).getTime() - instant.getTime()) / 1_000);
