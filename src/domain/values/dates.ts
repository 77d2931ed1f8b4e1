import * as z from 'zod';
import { addIssue, quoted } from './issue.ts';
import { addDays, instantOfMontevideo, isDate, startOfDay } from './montevideo.ts';

const LONGEST_ECHO = 40;

/** Returns a schema for a calendar day, `YYYY-MM-DD`, within optional bounds. The value stays a string. */
export function dateSchema(bounds?: { earliest: string; latest: string }) {
  return z
    .string()
    .superRefine((value, ctx) => {
      if (!isDate(value)) {
        addIssue(
          ctx,
          'date.malformed',
          `must be a date of the form YYYY-MM-DD, found ${quoted(value, LONGEST_ECHO)}.`,
        );
      } else if (bounds && (value < bounds.earliest || value > bounds.latest)) {
        const expected = `must be a date from ${bounds.earliest} to ${bounds.latest}`;
        addIssue(ctx, 'date.out_of_range', `${expected}, found ${value}.`);
      }
    })
    .meta({ format: 'date', examples: ['2026-11-20'] });
}

/** The first and last start date of an enterprise, in Montevideo: e-invoicing started in October 2011. */
const SCHEDULE = { earliest: '2011-10-01', latest: '2050-12-31' };

/** The same days as a pattern for openapi.json, since JSON Schema's date-time requires a time zone. */
const MONTHS = '2011-1[0-2]|20(1[2-9]|[2-4][0-9]|50)-(0[1-9]|1[0-2])';
const LEAP_YEARS = '20(1[26]|2[048]|3[26]|4[048])';
const SCHEDULED_DAYS = [
  `(${MONTHS})-(0[1-9]|1[0-9]|2[0-8])`,
  `${LEAP_YEARS}-02-29`,
  '(2011-1[0-2]|20(1[2-9]|[2-4][0-9]|50)-(0[13-9]|1[0-2]))-(29|30)',
  '(2011-1[02]|20(1[2-9]|[2-4][0-9]|50)-(0[13578]|1[02]))-31',
].join('|');

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** True for a date and time with a time zone (RFC 3339). */
const isMoment = (text: string): boolean => isDate(MOMENT.exec(text)?.[1] ?? '');

/** Schema of a date and time, with a time zone or in Montevideo time. The value is the instant. */
export const StartDateTime = z
  .string()
  .transform((value, ctx) => {
    const instant = isMoment(value) ? new Date(value) : instantOfMontevideo(value);
    if (instant === undefined) {
      const expected =
        'must be a date and time of the form YYYY-MM-DDTHH:MM:SS in Montevideo, or with its time zone (2026-03-01T12:00:00Z)';
      addIssue(ctx, 'date_time.malformed', `${expected}, found ${quoted(value, LONGEST_ECHO)}.`);
      return z.NEVER;
    }
    if (instant < startOfDay(SCHEDULE.earliest) || instant >= startOfDay(addDays(SCHEDULE.latest, 1))) {
      const expected = `must be a date from ${SCHEDULE.earliest} to ${SCHEDULE.latest}`;
      addIssue(ctx, 'date.out_of_range', `${expected}, found ${value.slice(0, 10)}.`);
      return z.NEVER;
    }
    return instant;
  })
  .meta({
    anyOf: [
      // Days that exist in the allowed years.
      { type: 'string', pattern: `^(${SCHEDULED_DAYS})T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$` },
      { type: 'string', format: 'date-time' },
    ],
    examples: ['2026-03-01T09:00:00', '2026-03-01T12:00:00.000Z'],
  });

/**
 * Schema of a moment that bounds a list: a day in Montevideo, or a date and time with a time zone (RFC 3339). The value
 * stays a string; see `spanOfMoment`.
 */
export const Moment = z
  .string()
  .superRefine((value, ctx) => {
    if (isDate(value) || isMoment(value)) return;
    const expected =
      'must be a date (YYYY-MM-DD) or a date and time with its zone (2026-03-01T09:00:00-03:00)';
    addIssue(ctx, 'moment.malformed', `${expected}, found ${quoted(value, LONGEST_ECHO)}.`);
  })
  .meta({
    anyOf: [
      { type: 'string', format: 'date' },
      { type: 'string', format: 'date-time' },
    ],
    examples: ['2026-03-01', '2026-03-01T09:00:00-03:00'],
  });

/** Returns the span of a `Moment`, from `from` to just before `before`: a day or a millisecond. */
export function spanOfMoment(moment: string): { readonly from: Date; readonly before: Date } {
  if (isDate(moment)) return { from: startOfDay(moment), before: startOfDay(addDays(moment, 1)) };
  const from = new Date(moment);
  return { from, before: new Date(from.getTime() + 1) };
}
