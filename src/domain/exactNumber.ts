import { Big } from 'big.js';

/** A JSON number that is written digit by digit as it stands, without going through binary arithmetic. */
export interface ExactNumber {
  readonly rawJSON: string;
}

/** What ES2025 gives and TypeScript's library does not know yet: a value that JSON.stringify writes as it stands. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  readonly rawJSON: (text: string) => ExactNumber;
  readonly isRawJSON: (value: unknown) => value is ExactNumber;
};

/** The JSON number of a decimal text, in its shortest form: `122.50` is written 122.5. */
export function exactNumber(decimal: string): ExactNumber {
  return rawJSON(Big(decimal).toFixed());
}

/** Whether a value is such a number. */
export const isExactNumber = (value: unknown): value is ExactNumber => isRawJSON(value);
