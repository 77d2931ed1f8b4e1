/**
 * Which days the authority works, and with that when a daily report is due (docs/authority/reports.md#deadline). Dates
 * are `YYYY-MM-DD` in Montevideo. Where the law leaves a doubt a day counts as a working one: too early a deadline
 * costs a correction, too late a one the duty. Imports only arithmetic of dates, so that workflows may use it.
 */
import { addDays } from './montevideo.ts';

/** Holidays of the same date every year, month and day. */
const FIXED = ['01-01', '01-06', '05-01', '06-19', '07-18', '08-25', '11-02', '12-25'] as const;
/** Holidays that are observed on the Monday that the law gives (Ley 16.805): see `observed`. */
const MOVABLE = ['04-19', '05-18', '10-12'] as const;
/** Days before Easter Sunday: Monday and Tuesday of carnival, and Monday to Friday of the Holy Week. */
const BEFORE_EASTER = [48, 47, 6, 5, 4, 3, 2] as const;

/** The hour, in Montevideo, until which the authority takes the report of a day: of the next working day. */
const DUE_TIME = '18:00';

/** Day of the week, 0 for Sunday. */
const weekday = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay();

/** Easter Sunday of a year of the Gregorian calendar (the algorithm of Meeus, Jones and Butcher). */
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

/** When a movable holiday is observed: of Tuesday and Wednesday the Monday before, of Thursday and Friday the one after. */
function observed(date: string): string {
  const day = weekday(date);
  if (day === 2 || day === 3) return addDays(date, 1 - day);
  return day === 4 || day === 5 ? addDays(date, 8 - day) : date;
}

/** The holidays of a year, in order; those that fall on a weekend too. @internal exported for tests */
export function holidaysOf(year: number): string[] {
  const sunday = easter(year);
  return [
    ...FIXED.map((day) => `${year}-${day}`),
    ...MOVABLE.map((day) => observed(`${year}-${day}`)),
    ...BEFORE_EASTER.map((days) => addDays(sunday, -days)),
  ].toSorted();
}

/** Whether the authority works on a day: Monday to Friday, but for holidays. @internal exported for tests */
export function isWorkingDay(date: string): boolean {
  const day = weekday(date);
  return day !== 0 && day !== 6 && !holidaysOf(Number(date.slice(0, 4))).includes(date);
}

/** The first working day after a date. @internal exported for tests */
export function nextWorkingDay(date: string): string {
  let next = addDays(date, 1);
  while (!isWorkingDay(next)) next = addDays(next, 1);
  return next;
}

/** The moment `HH:MM` of the first working day after a date. */
export const onNextWorkingDay = (date: string, time: string): Date =>
  new Date(`${nextWorkingDay(date)}T${time}:00-03:00`);

/** Until when the authority wants the report of a date. */
export const reportDueAt = (date: string): Date => onNextWorkingDay(date, DUE_TIME);
