import * as z from 'zod';
import { addIssue } from './issue.ts';
import { instantOfMontevideo, isDate } from './montevideo.ts';

const shown = (value: string) => (value.length <= 40 ? JSON.stringify(value) : 'a longer text');

/** A schema for a day of the calendar, `YYYY-MM-DD`, from `earliest` to `latest` where given. It stays text. */
export function date(bounds?: { earliest: string; latest: string }) {
  return z
    .string()
    .superRefine((value, ctx) => {
      if (!isDate(value)) {
        addIssue(ctx, 'date.malformed', `a date of the form YYYY-MM-DD is expected, found ${shown(value)}.`);
      } else if (bounds && (value < bounds.earliest || value > bounds.latest)) {
        const expected = `a date from ${bounds.earliest} to ${bounds.latest} is expected`;
        addIssue(ctx, 'date.out_of_range', `${expected}, found ${value}.`);
      }
    })
    .meta({ format: 'date' });
}

/** The earliest and latest moment that an enterprise can be scheduled for: e-invoicing began in October 2011. */
const SCHEDULE = { earliest: '2011-10-01T00:00:00', latest: '2050-12-31T23:59:59' };

/** A schema for a date and time in Montevideo without zone, read into the instant it means. */
export const MontevideoDateTime = z
  .string()
  .transform((value, ctx) => {
    const instant = instantOfMontevideo(value);
    if (instant === undefined) {
      const expected = 'a date and time of the form YYYY-MM-DDTHH:MM:SS, without zone, is expected';
      addIssue(ctx, 'date_time.malformed', `${expected}, found ${shown(value)}.`);
      return z.NEVER;
    }
    if (value < SCHEDULE.earliest || value > SCHEDULE.latest) {
      const expected = `a date from ${SCHEDULE.earliest.slice(0, 10)} to ${SCHEDULE.latest.slice(0, 10)} is expected`;
      addIssue(ctx, 'date.out_of_range', `${expected}, found ${value.slice(0, 10)}.`);
      return z.NEVER;
    }
    return instant;
  })
  .meta({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}$',
    examples: ['2026-03-01T09:00:00'],
    description: 'Date and time in America/Montevideo, without zone',
  });
