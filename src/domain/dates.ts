import * as z from 'zod';
import { addIssue } from './issue.ts';
import { instantOfMontevideo, isDate } from './montevideo.ts';

const shown = (value: string) => (value.length <= 40 ? JSON.stringify(value) : 'a longer string');

/** A schema for a calendar day, `YYYY-MM-DD`, within the bounds if given. The value stays a string. */
export function date(bounds?: { earliest: string; latest: string }) {
  return z
    .string()
    .superRefine((value, ctx) => {
      if (!isDate(value)) {
        addIssue(ctx, 'date.malformed', `must be a date of the form YYYY-MM-DD, found ${shown(value)}.`);
      } else if (bounds && (value < bounds.earliest || value > bounds.latest)) {
        const expected = `must be a date from ${bounds.earliest} to ${bounds.latest}`;
        addIssue(ctx, 'date.out_of_range', `${expected}, found ${value}.`);
      }
    })
    .meta({ format: 'date' });
}

/** The earliest and latest moment for which an enterprise can be scheduled: e-invoicing began in October 2011. */
const SCHEDULE = { earliest: '2011-10-01T00:00:00', latest: '2050-12-31T23:59:59' };

/** A schema for a date and time in Montevideo, without a time zone; the value is the instant. */
export const MontevideoDateTime = z
  .string()
  .transform((value, ctx) => {
    const instant = instantOfMontevideo(value);
    if (instant === undefined) {
      const expected = 'must be a date and time of the form YYYY-MM-DDTHH:MM:SS without a time zone';
      addIssue(ctx, 'date_time.malformed', `${expected}, found ${shown(value)}.`);
      return z.NEVER;
    }
    if (value < SCHEDULE.earliest || value > SCHEDULE.latest) {
      const expected = `must be a date from ${SCHEDULE.earliest.slice(0, 10)} to ${SCHEDULE.latest.slice(0, 10)}`;
      addIssue(ctx, 'date.out_of_range', `${expected}, found ${value.slice(0, 10)}.`);
      return z.NEVER;
    }
    return instant;
  })
  .meta({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}$',
    examples: ['2026-03-01T09:00:00'],
    description: 'Date and time in America/Montevideo, without a time zone',
  });
