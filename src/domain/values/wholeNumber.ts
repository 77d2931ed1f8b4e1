import * as z from 'zod';
import { addIssue, quoted } from './issue.ts';

/** Schema of a whole number in a query parameter. */
export function wholeNumber({ minimum, maximum }: { minimum: number; maximum: number }) {
  return z
    .string()
    .transform((text, ctx) => {
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= minimum && value <= maximum) return value;
      addIssue(
        ctx,
        'number.out_of_range',
        `must be an integer from ${minimum} to ${maximum}, found ${quoted(text)}.`,
      );
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum, maximum });
}
