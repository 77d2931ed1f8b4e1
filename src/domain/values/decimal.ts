import Big from 'big.js';
import * as z from 'zod';
import { addIssue } from './issue.ts';

/** A JSON number as written: keeps 0.1 exact, and lets the schemas below count the sent decimals. */
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

/**
 * Parses typed text, with a decimal point or comma, as a JsonNumber; returns other text unchanged, which the schema
 * refuses.
 */
export const parseTypedNumber = (typed: string): JsonNumber | string =>
  /^\d+([.,]\d+)?$/.test(typed) ? new JsonNumber(typed.replace(',', '.')) : typed;

/** As `parseTypedNumber`, but accepts only digits: `50.000` may mean 50,000. */
export const parseTypedInteger = (typed: string): JsonNumber | string =>
  /^\d+$/.test(typed) ? new JsonNumber(typed) : typed;

interface Size {
  readonly negative: boolean;
  readonly zero: boolean;
  readonly integerDigits: number;
  readonly decimals: number;
}

/** The parts of a JSON number: `digits` without surrounding zeros ('' for zero), and the position of the point. */
interface Parts {
  readonly negative: boolean;
  readonly digits: string;
  /** Number of digits before the point, after applying the exponent. */
  readonly point: number;
}

/** Splits a JSON number without computing it: 1e999999999 costs no more than 1. */
function splitNumber(text: string): Parts {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (parts === null) throw new RangeError('not a JSON number');
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const written = whole + fraction;
  let first = 0;
  while (first < written.length && written[first] === '0') first += 1;
  if (first === written.length) return { negative: false, digits: '', point: 0 };
  let last = written.length - 1;
  while (written[last] === '0') last -= 1;
  const point = whole.length + Number(exponent) - first;
  return { negative: sign === '-', digits: written.slice(first, last + 1), point };
}

function sizeOf(text: string): Size {
  const { negative, digits, point } = splitNumber(text);
  return {
    negative,
    zero: digits === '',
    integerDigits: Math.max(0, point),
    decimals: Math.max(0, digits.length - point),
  };
}

/** Returns the canonical form of a number: equal for 122, 122.0 and 1.22e2, and for 0 and -0. */
export function canonicalNumber({ text }: JsonNumber): string {
  const { negative, digits, point } = splitNumber(text);
  if (digits === '') return '0';
  // A double cannot represent this exponent exactly; no rule accepts such a number.
  return Number.isSafeInteger(point) ? `${negative ? '-' : ''}${digits}e${point}` : text;
}

const LONGEST_ECHO = 40;
const echo = (number: JsonNumber) => (number.text.length <= LONGEST_ECHO ? ` in ${number.text}` : '');

const jsonNumber = z.custom<JsonNumber>((value) => value instanceof JsonNumber, {
  params: { expected: 'a number' },
});

/**
 * Returns a schema that reads a `JsonNumber` into an exact decimal with at most `integerDigits` before the point and
 * `decimals` after it, without counting trailing zeros; negative only with `negative`.
 */
export function decimalSchema(limits: { integerDigits: number; decimals: number; negative?: boolean }) {
  const { integerDigits, decimals, negative = false } = limits;
  return jsonNumber
    .transform((number, ctx) => {
      const size = sizeOf(number.text);
      if (size.integerDigits > integerDigits) {
        const found = `found ${size.integerDigits}${echo(number)}`;
        addIssue(
          ctx,
          'number.too_large',
          `must have at most ${integerDigits} digits before the decimal point, ${found}.`,
        );
        return z.NEVER;
      }
      if (size.decimals > decimals) {
        const found = `found ${size.decimals}${echo(number)}`;
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

/** Returns a schema that reads a `JsonNumber` into a safe integer from `minimum` to `maximum`. */
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

/** Returns the sum of numbers or decimal texts. */
export const sumOf = (amounts: Iterable<Big | string>): Big =>
  [...amounts].reduce((sum: Big, amount) => sum.plus(amount), Big(0));

export const atLeastZero = (amount: Big): Big => (amount.lt(0) ? Big(0) : amount);

/** Rounds `x`, halves away from zero. */
export function roundHalfUp(x: Big, decimals: number): Big {
  return x.round(decimals, Big.roundHalfUp);
}

const fixed = (decimals: number) => (x: Big) => (x.eq(0) ? Big(0) : x).toFixed(decimals, Big.roundHalfUp);

/** Formats an amount for the CFE format: 2 decimals, never "-0.00". */
export const amountText = fixed(2);
/** Formats a unit price for the CFE format: 6 decimals. */
export const priceText = fixed(6);
/** Formats a quantity for the CFE format: 3 decimals. */
export const quantityText = fixed(3);
/** Formats an exchange rate for the CFE format: 3 decimals. */
export const rateText = fixed(3);
