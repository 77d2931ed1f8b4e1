import * as z from 'zod';
import { addIssue } from '../domain/values/issue.ts';

/** Most items to skip: fits a table and a JSON number. */
const MOST_SKIPPED = 1_000_000_000;

/** Schema of a whole number in a query parameter. */
export function wholeNumber({ minimum, maximum }: { minimum: number; maximum: number }) {
  return z
    .string()
    .transform((text, ctx) => {
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= minimum && value <= maximum) return value;
      const found = text.length <= 20 ? JSON.stringify(text) : 'a longer string';
      addIssue(
        ctx,
        'number.out_of_range',
        `must be an integer from ${minimum} to ${maximum}, found ${found}.`,
      );
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum, maximum });
}

/** Returns the query parameters of a paged list of `items`; `usual` is the default page size. */
export const pageParameters = (items: string, { usual, largest }: { usual: number; largest: number }) => ({
  skip: wholeNumber({ minimum: 0, maximum: MOST_SKIPPED })
    .optional()
    .meta({ description: `How many ${items} to skip. Default: 0.`, examples: [0] }),
  limit: wholeNumber({ minimum: 1, maximum: largest })
    .optional()
    .meta({ description: `How many ${items} to return at most. Default: ${usual}.`, examples: [usual] }),
});
