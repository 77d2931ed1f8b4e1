import { wholeNumber } from '../domain/values/wholeNumber.ts';

/** Most items to skip: beyond any table, and exact in JSON. */
const MOST_SKIPPED = 1_000_000_000;

/** Returns the query parameters of a paged list of `items`; `usual` is the default page size. */
export const pageParameters = (items: string, { usual, largest }: { usual: number; largest: number }) => ({
  skip: wholeNumber({ minimum: 0, maximum: MOST_SKIPPED })
    .optional()
    .meta({ description: `How many ${items} to skip. Default: 0.`, examples: [0] }),
  limit: wholeNumber({ minimum: 1, maximum: largest })
    .optional()
    .meta({ description: `How many ${items} to return at most. Default: ${usual}.`, examples: [usual] }),
});
