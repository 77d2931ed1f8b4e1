import * as z from 'zod';

/** A day in an answer, `YYYY-MM-DD`. */
export const DateText = z.string().meta({ format: 'date', examples: ['2026-11-20'] });

/** A moment in an answer: ISO 8601, UTC. */
export const MomentText = z.string().meta({ format: 'date-time', examples: ['2026-11-20T15:00:00.000Z'] });

/** A text in an answer, with its description and examples. */
export const textField = (description: string, ...examples: string[]) =>
  z.string().meta({ description, examples });

/** A count or an ordinal in an answer. */
export const countField = (description: string, example: number, minimum = 0) =>
  z
    .int()
    .min(minimum)
    .meta({ description, examples: [example] });

/** The total number of items in a paged list. */
export const TotalCount = countField('How many there are in all, on all pages.', 1);
