/** Files of the operator for `plan load`, `ui-value load` and `exchange-rate load`. */

import Big from 'big.js';
import * as z from 'zod';
import { invalidInput } from '../../errors.ts';
import { CURRENCIES } from '../requests/enums.ts';
import { checkInput } from '../requests/faults.ts';
import { dateSchema } from '../values/dates.ts';
import { amountSchema, decimalSchema, integerSchema } from '../values/decimal.ts';
import { addIssue } from '../values/issue.ts';
import { readJson } from '../values/json.ts';
import { textSchema } from '../values/text.ts';

const NAME_LENGTH = 100;
const SOURCE_LENGTH = 500;

/** Plans with their prices. */
export const PlanList = z
  .array(
    z.strictObject({
      plan_id: textSchema(NAME_LENGTH),
      frequency_id: textSchema(NAME_LENGTH),
      amount: amountSchema(),
      currency: z.enum(CURRENCIES),
    }),
  )
  .min(1)
  .superRefine(eachOnce(({ plan_id, frequency_id }) => `${plan_id} ${frequency_id}`));

/** The pesos of one UI that count in a year, with their source. */
export const UiValueInput = z.strictObject({
  year: integerSchema({ minimum: 2000, maximum: 2100 }),
  value: decimalSchema({ integerDigits: 8, decimals: 4 }).superRefine((value, ctx) => {
    if (value.eq(0)) addIssue(ctx, 'number.out_of_range', 'must be above 0, found 0.');
  }),
  source: textSchema(SOURCE_LENGTH),
  estimate: z.boolean(),
});

/** UI values by year, with their sources. */
export const UiValueList = z
  .array(UiValueInput)
  .min(1)
  .superRefine(eachOnce(({ year }) => String(year)));

/** Days with rates: since the start of e-invoicing. */
const RATE_DAYS = { earliest: '2011-10-01', latest: '2050-12-31' };

/** Rates of foreign currencies by day, with their sources; text, to prevent rounding. */
export const ExchangeRateList = z
  .array(
    z.strictObject({
      currency: z.enum(CURRENCIES).exclude(['UYU']),
      date: dateSchema(RATE_DAYS),
      rate: z.string().superRefine((rate, ctx) => {
        const isRate = /^\d{1,9}(\.\d{1,9})?$/.test(rate) && Big(rate).gt(0);
        if (!isRate)
          addIssue(ctx, 'number.out_of_range', 'must be a number above 0 as text, such as "40.125".');
      }),
      source: textSchema(SOURCE_LENGTH),
    }),
  )
  .min(1)
  .superRefine(eachOnce(({ currency, date }) => `${currency} ${date}`));

/** Refuses two rows with one key. */
function eachOnce<T>(keyOf: (row: T) => string) {
  return (rows: readonly T[], ctx: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [i, row] of rows.entries()) {
      const key = keyOf(row);
      if (seen.has(key)) addIssue(ctx, 'body.duplicate_key', 'must not be given twice.', [i]);
      seen.add(key);
    }
  };
}

/** Reads the rows of an operator's JSON file. Throws INVALID_INPUT with all its faults. */
export function readRows<T>(schema: z.ZodType<T>, text: string): T {
  const json = readJson(text);
  const rows = json.ok ? checkInput(schema, json.value) : json;
  if (rows.ok) return rows.value;
  throw invalidInput(
    rows.faults.map((fault) =>
      fault.path === '' ? { ...fault, message: fileMessage(fault.message) } : fault,
    ),
  );
}

const fileMessage = (message: string): string =>
  `The file ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
