/** What an operator's files hold: `plan load`, `ui-value load`. */
import * as z from 'zod';
import { CURRENCIES } from './cfeRequest.ts';
import { amount, decimal, integer } from './decimal.ts';
import { addIssue } from './issue.ts';
import { text } from './text.ts';

const NAME_LENGTH = 100;
const SOURCE_LENGTH = 500;

/** Plans with their prices. */
export const PlanList = z
  .array(
    z.strictObject({
      plan_id: text(NAME_LENGTH),
      frequency_id: text(NAME_LENGTH),
      amount: amount(),
      currency: z.enum(CURRENCIES),
    }),
  )
  .min(1)
  .superRefine(eachOnce(({ plan_id, frequency_id }) => `${plan_id} ${frequency_id}`));

/** UI values by year, each with where it is from, and whether it is not the exact one. */
export const UiValueList = z
  .array(
    z.strictObject({
      year: integer({ minimum: 2000, maximum: 2100 }),
      value: decimal({ integerDigits: 8, decimals: 4 }).superRefine((value, ctx) => {
        if (value.eq(0)) addIssue(ctx, 'number.out_of_range', 'a number above 0 is expected, found 0.');
      }),
      source: text(SOURCE_LENGTH),
      estimate: z.boolean(),
    }),
  )
  .min(1)
  .superRefine(eachOnce(({ year }) => String(year)));

/** No two rows of one file may say different things of the same. */
function eachOnce<T>(keyOf: (row: T) => string) {
  return (rows: readonly T[], ctx: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [i, row] of rows.entries()) {
      const key = keyOf(row);
      if (seen.has(key)) addIssue(ctx, 'body.duplicate_key', 'is given twice.', [i]);
      seen.add(key);
    }
  };
}
