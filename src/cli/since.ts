import * as z from 'zod';
import { spanOf } from '../domain/dates.ts';

const Moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** `--since`: a day in Montevideo, from its first moment on, or a date and time. */
export const Since = z
  .string()
  .refine((text) => Moment.safeParse(text).success, {
    params: { expected: 'a date or a date and time, such as 2026-11-20 or 2026-11-20T15:00:00Z' },
  })
  .transform((text) => spanOf(text).from);
