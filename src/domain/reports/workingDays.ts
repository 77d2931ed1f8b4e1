/**
 * Working days of the authority, which decide when a daily report is due (docs/authority/reports.md#deadline); dates are
 * `YYYY-MM-DD` in Montevideo. Doubtful days count as working days: early costs a correction, late breaks the obligation.
 * Imports only date arithmetic, so that workflows may use it.
 */
import { addDays } from '../values/montevideo.ts';

/** Holidays with a fixed date: month and day. */
const FIXED = ['01-01', '01-06', '05-01', '06-19', '07-18', '08-25', '11-02', '12-25'] as const;
/** Holidays that are observed on a Monday (Ley 16.805): see `observed`. */
const MOVABLE = ['04-19', '05-18', '10-12'] as const;
/** Days before Easter Sunday: Monday and Tuesday of carnival, and Monday to Friday of the Holy Week. */
const BEFORE_EASTER = [48, 47, 6, 5, 4, 3, 2] as const;

/** Time of the next working day, in Montevideo, until which the authority accepts the report of a day. */
const DUE_TIME = '18:00';

/** Day of the week, 0 for Sunday. */
const weekday = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay();

/** Returns Easter Sunday of a year (algorithm of Meeus, Jones and Butcher). */
function easter(year: number): string {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const f = Math.floor((b + 8) / 25);
  const g = Math.floor((b - f + 1) / 3);
  const h = (19 * a + b - Math.floor(b / 4) - g + 15) % 30;
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const month = Math.floor((h + l - 7 * m + 114) / 31);
  const day = ((h + l - 7 * m + 114) % 31) + 1;
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** Returns the day of a movable holiday: the Monday before a Tuesday or Wednesday, or after a Thursday or Friday. */
function observed(date: string): string {
  const day = weekday(date);
  if (day === 2 || day === 3) return addDays(date, 1 - day);
  return day === 4 || day === 5 ? addDays(date, 8 - day) : date;
}

/** Returns the holidays of a year in order, including those on weekends. @internal exported for tests */
export function holidaysOf(year: number): string[] {
  const sunday = easter(year);
  return [
    ...FIXED.map((day) => `${year}-${day}`),
    ...MOVABLE.map((day) => observed(`${year}-${day}`)),
    ...BEFORE_EASTER.map((days) => addDays(sunday, -days)),
  ].toSorted();
}

/** True from Monday to Friday, except on holidays. @internal exported for tests */
export function isWorkingDay(date: string): boolean {
  const day = weekday(date);
  return day !== 0 && day !== 6 && !holidaysOf(Number(date.slice(0, 4))).includes(date);
}

/** Returns the first working day after a date. @internal exported for tests */
export function nextWorkingDay(date: string): string {
  let next = addDays(date, 1);
  while (!isWorkingDay(next)) next = addDays(next, 1);
  return next;
}

/** Returns the moment `HH:MM` of the first working day after a date. */
export const onNextWorkingDay = (date: string, time: string): Date =>
  new Date(`${nextWorkingDay(date)}T${time}:00-03:00`);

/** Returns the deadline of the authority for the report of a date. */
export const reportDueAt = (date: string): Date => onNextWorkingDay(date, DUE_TIME);
