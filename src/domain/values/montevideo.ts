/**
 * Time in Montevideo: UTC−3 all year, without summer time since 2015. Dates are `YYYY-MM-DD`. Imports nothing, so that
 * workflows may use it.
 */

const OFFSET_MINUTES = -180;
const OFFSET_TEXT = '-03:00';
const MINUTE = 60_000;
const DAY = 86_400_000;

const local = (instant: Date) => new Date(instant.getTime() + OFFSET_MINUTES * MINUTE).toISOString();

/** Returns the date in Montevideo at `instant`. */
export function montevideoDate(instant: Date): string {
  return local(instant).slice(0, 10);
}

/** Formats `instant` like TmstFirma: `YYYY-MM-DDTHH:MM:SS-03:00`, without fractions of a second. */
export function montevideoTimestamp(instant: Date): string {
  return `${local(instant).slice(0, 19)}${OFFSET_TEXT}`;
}

/** Parses a Montevideo date and time without time zone (`YYYY-MM-DDTHH:MM:SS`); undefined when malformed. */
export function instantOfMontevideo(dateTime: string): Date | undefined {
  const parts = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.exec(dateTime);
  if (parts === null || !isDate(parts[1] ?? '')) return undefined;
  return new Date(`${dateTime}${OFFSET_TEXT}`);
}

/** True for a calendar day written `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Returns the days from `from` to `to`; negative when `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY;
}

/** Returns the date `days` after `date`, before it if negative. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10);
}

/** Returns the start of a date in Montevideo. */
export const startOfDay = (date: string): Date => new Date(`${date}T00:00:00${OFFSET_TEXT}`);

/** Returns the whole seconds from `instant` to the end of its day in Montevideo, at least 1. */
export const secondsToMidnight = (instant: Date): number =>
  Math.ceil((startOfDay(addDays(montevideoDate(instant), 1)).getTime() - instant.getTime()) / 1_000);
