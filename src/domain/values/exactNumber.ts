import { Big } from 'big.js';

/** A JSON number that is written digit by digit, without binary arithmetic. */
export interface ExactNumber {
  readonly rawJSON: string;
}

/** ES2025: a value that JSON.stringify writes verbatim. TypeScript's library has no types for it yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  readonly rawJSON: (text: string) => ExactNumber;
  readonly isRawJSON: (value: unknown) => value is ExactNumber;
};

/** Returns the JSON number of a decimal text in its shortest form: 122.5 for `122.50`. */
export function exactNumber(decimal: string): ExactNumber {
  return rawJSON(Big(decimal).toFixed());
}

export const isExactNumber = (value: unknown): value is ExactNumber => isRawJSON(value);
