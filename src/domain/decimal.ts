import Big from 'big.js';
import * as z from 'zod';
import { addIssue } from './issue.ts';

/**
 * A JSON number as it was written. Bodies are read into these, not into binary numbers, so that 0.1 stays 0.1 and
 * the schemas below can tell how many decimals were sent.
 */
export class JsonNumber {
  readonly text: string;

  /** `text` is a JSON number (RFC 8259 §6). */
  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What somebody typed where a number is wanted: a number as it was written, else the text, which the schema refuses. */
export const parseTypedNumber = (typed: string): JsonNumber | string =>
  /^\d+(\.\d+)?$/.test(typed) ? new JsonNumber(typed) : typed;

interface Size {
  readonly negative: boolean;
  readonly zero: boolean;
  readonly integerDigits: number;
  readonly decimals: number;
}

/** A JSON number in parts: `digits` without zeros around them (none: it is zero), and where the point stands in them. */
interface Parts {
  readonly negative: boolean;
  readonly digits: string;
  /** How many digits stand before the point, once the exponent has moved it. */
  readonly point: number;
}

/** The parts of a JSON number without computing it: 1e999999999 costs no more than 1. */
function partsOf(text: string): Parts {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (parts === null) throw new RangeError('not a JSON number');
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const all = whole + fraction;
  let first = 0;
  while (first < all.length && all[first] === '0') first += 1;
  if (first === all.length) return { negative: false, digits: '', point: 0 };
  let last = all.length - 1;
  while (all[last] === '0') last -= 1;
  const point = whole.length + Number(exponent) - first;
  return { negative: sign === '-', digits: all.slice(first, last + 1), point };
}

function sizeOf(text: string): Size {
  const { negative, digits, point } = partsOf(text);
  return {
    negative,
    zero: digits === '',
    integerDigits: Math.max(0, point),
    decimals: Math.max(0, digits.length - point),
  };
}

/** The one form of a number, exactly: 122, 122.0 and 1.22e2 are one, as are 0 and -0. */
export function canonicalNumber({ text }: JsonNumber): string {
  const { negative, digits, point } = partsOf(text);
  if (digits === '') return '0';
  // A double does not hold such an exponent exactly; no rule takes such a number.
  return Number.isSafeInteger(point) ? `${negative ? '-' : ''}${digits}e${point}` : text;
}

const LONGEST_ECHO = 40;
const shown = (number: JsonNumber) => (number.text.length <= LONGEST_ECHO ? ` in ${number.text}` : '');

const jsonNumber = z.custom<JsonNumber>((value) => value instanceof JsonNumber, {
  params: { expected: 'a number' },
});

/**
 * A schema that reads a `JsonNumber` into an exact decimal with at most `integerDigits` before the point and
 * `decimals` after it; negative only with `negative`. Trailing zeros do not count.
 */
export function decimalSchema(limits: { integerDigits: number; decimals: number; negative?: boolean }) {
  const { integerDigits, decimals, negative = false } = limits;
  return jsonNumber
    .transform((number, ctx) => {
      const size = sizeOf(number.text);
      if (size.integerDigits > integerDigits) {
        const found = `found ${size.integerDigits}${shown(number)}`;
        addIssue(
          ctx,
          'number.too_large',
          `must have at most ${integerDigits} digits before the decimal point, ${found}.`,
        );
        return z.NEVER;
      }
      if (size.decimals > decimals) {
        const found = `found ${size.decimals}${shown(number)}`;
        addIssue(ctx, 'number.too_many_decimals', `must have at most ${decimals} decimals, ${found}.`);
        return z.NEVER;
      }
      if (size.negative && !negative) {
        addIssue(ctx, 'number.negative', `must not be negative, found ${Big(number.text).toFixed()}.`);
        return z.NEVER;
      }
      return size.zero ? Big(0) : Big(number.text);
    })
    .meta({
      type: 'number',
      ...(negative ? { exclusiveMinimum: -(10 ** integerDigits) } : { minimum: 0 }),
      exclusiveMaximum: 10 ** integerDigits,
      multipleOf: Number(`1e-${decimals}`),
    });
}

/** A schema that reads a `JsonNumber` into an integer from `minimum` to `maximum` (within the safe integers). */
export function integerSchema(limits: { minimum: number; maximum: number }) {
  const { minimum, maximum } = limits;
  return jsonNumber
    .transform((number, ctx) => {
      const size = sizeOf(number.text);
      const found = number.text.length <= LONGEST_ECHO ? `, found ${number.text}` : '';
      if (size.decimals > 0) {
        addIssue(ctx, 'number.not_whole', `must be an integer${found}.`);
        return z.NEVER;
      }
      const value = size.zero ? 0 : size.integerDigits > 16 ? Number.NaN : Number(number.text);
      if (!(value >= minimum && value <= maximum)) {
        addIssue(ctx, 'number.out_of_range', `must be an integer from ${minimum} to ${maximum}${found}.`);
        return z.NEVER;
      }
      return value;
    })
    .meta({ type: 'integer', minimum, maximum });
}

/** Money in the CFE format: 15 digits and 2 decimals, not negative (MontoType). */
export const amountSchema = () => decimalSchema({ integerDigits: 15, decimals: 2 });
/** Money that may be negative (Monto_admite_negType). */
export const signedAmountSchema = () => decimalSchema({ integerDigits: 15, decimals: 2, negative: true });

/** `x` rounded to `places` decimals, halves away from zero. */
export function roundHalfUp(x: Big, places: number): Big {
  return x.round(places, Big.roundHalfUp);
}

const fixed = (places: number) => (x: Big) => (x.eq(0) ? Big(0) : x).toFixed(places, Big.roundHalfUp);

/** An amount as the CFE format writes it: 2 decimals, never "-0.00". */
export const amountText = fixed(2);
/** A unit price as the CFE format writes it: 6 decimals. */
export const priceText = fixed(6);
/** A quantity as the CFE format writes it: 3 decimals. */
export const quantityText = fixed(3);
/** An exchange rate as the CFE format writes it: 3 decimals. */
export const rateText = fixed(3);
