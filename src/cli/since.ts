import * as z from 'zod';

const Moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** `--since`: a date, which begins at midnight in UTC, or a date and time. */
export const Since = z
  .string()
  .refine((text) => Moment.safeParse(text).success, {
    params: { expected: 'a date or a date and time, such as 2026-11-20 or 2026-11-20T15:00:00Z' },
  })
  .transform((text) => new Date(text));
