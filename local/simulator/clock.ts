/** Tells the time; tests hand in their own. */
export type Clock = () => Date;

const MONTEVIDEO_OFFSET_MS = 3 * 3_600_000; // −03:00 all the year round, no summer time since 2015

/** The moment as the authority writes it: `YYYY-MM-DDTHH:MM:SS-03:00`. */
export const inMontevideo = (moment: Date): string => `${withoutZone(moment)}-03:00`;

/**
 * The moment on Montevideo's clocks without an offset, as the consultation services write it
 * (docs/authority/services.md#consultations).
 */
export const withoutZone = (moment: Date): string =>
  new Date(moment.getTime() - MONTEVIDEO_OFFSET_MS).toISOString().slice(0, 19);

/** The day in Montevideo, `YYYY-MM-DD`. */
export const dayInMontevideo = (moment: Date): string => withoutZone(moment).slice(0, 10);

/** The moment a text names, or null; a text without an offset means Montevideo (docs/authority/services.md#clock). */
export function momentOf(text: string): Date | null {
  const form = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  if (!form) return null;
  const [, time, , zone] = form;
  const moment = new Date(`${text}${time ? '' : 'T00:00:00'}${zone ? '' : '-03:00'}`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}

/** The day that lies `days` after a day, both `YYYY-MM-DD`. */
export function daysAfter(day: string, days: number): string {
  const moment = new Date(`${day}T00:00:00Z`);
  moment.setUTCDate(moment.getUTCDate() + days);
  return moment.toISOString().slice(0, 10);
}
