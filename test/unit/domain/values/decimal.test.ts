import { describe, expect, test } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import * as z from 'zod';
import {
  amountSchema,
  amountText,
  decimalSchema,
  integerSchema,
  priceText,
  rateText,
  roundHalfUp,
  signedAmountSchema,
} from '../../../../src/domain/values/decimal.ts';
import { decimalText } from '../../../support/receipts/arithmetic.ts';
import { num } from '../../../support/receipts/exactJson.ts';
import { checkAll } from '../support.ts';

const read = (schema: z.ZodType<Big>, text: string) => {
  const result = schema.safeParse(num(text));
  return result.success ? result.data.toFixed() : result.error.issues.map(({ message }) => message);
};

describe('a decimal', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['-0.00', '0'],
    ['2.0000', '2'],
    ['0.10', '0.1'],
    ['1e2', '100'],
    ['1E+2', '100'],
    ['12.5e-1', '1.25'],
    ['100000e-7', '0.01'],
    ['0e999999999', '0'],
    ['999999999999999.99', '999999999999999.99'],
    [`0.${'0'.repeat(100_000)}`, '0'],
  ])('%# is read exactly', (text, value) => {
    expect(read(amountSchema(), text)).toBe(value);
  });

  test.each([
    ['0.001', 'must have at most 2 decimals, found 3 in 0.001.'],
    ['1.005', 'must have at most 2 decimals, found 3 in 1.005.'],
    ['1e-3', 'must have at most 2 decimals, found 3 in 1e-3.'],
    ['1e-999999999', 'must have at most 2 decimals, found 999999999 in 1e-999999999.'],
    [
      '1000000000000000',
      'must have at most 15 digits before the decimal point, found 16 in 1000000000000000.',
    ],
    ['1e999999999', 'must have at most 15 digits before the decimal point, found 1000000000 in 1e999999999.'],
    ['-0.01', 'must not be negative, found -0.01.'],
  ])('%s is refused', (text, message) => {
    expect(read(amountSchema(), text)).toEqual([message]);
  });

  test('may be below zero where the format lets it', () => {
    expect(read(signedAmountSchema(), '-12.50')).toBe('-12.5');
  });

  test.each<[unknown]>([[5], ['5'], [null], [undefined], [{ text: '5' }], [Big(5)]])(
    'is not made of %j',
    (value) => {
      expect(amountSchema().safeParse(value).success).toBe(false);
    },
  );

  test('is any amount as written, and comes out as it went in', () => {
    checkAll(fc.bigInt(0n, 99_999_999_999_999_999n), 200, (cents) => {
      expect(amountText(amountSchema().parse(num(decimalText(cents, 2))))).toBe(decimalText(cents, 2));
    });
  });

  test('shows as a number in JSON Schema', () => {
    const schema = z.toJSONSchema(z.object({ rate: decimalSchema({ integerDigits: 4, decimals: 3 }) }), {
      io: 'input',
      unrepresentable: 'any',
    });

    expect(schema.properties).toEqual({
      rate: { type: 'number', minimum: 0, exclusiveMaximum: 10_000, multipleOf: 0.001 },
    });
  });
});

describe('a whole number', () => {
  const schema = integerSchema({ minimum: 0, maximum: 9999 });

  test.each([
    ['7', 7],
    ['7.0', 7],
    ['7e2', 700],
    ['-0', 0],
  ])('%s is read', (text, value) => {
    expect(schema.parse(num(text))).toBe(value);
  });

  test.each(['7.5', '-1', '10000', '1e20', '1e999999999', '7e-1'])('%s is refused', (text) => {
    expect(schema.safeParse(num(text)).success).toBe(false);
  });
});

describe('rounding', () => {
  test.each([
    ['0.125', '0.13'],
    ['0.135', '0.14'],
    ['0.1249999', '0.12'],
    ['-0.125', '-0.13'],
    ['137704.918', '137704.92'],
  ])('of %s to cents is %s: halves away from zero', (value, rounded) => {
    expect(roundHalfUp(Big(value), 2).toFixed(2)).toBe(rounded);
  });

  test('never writes a negative zero', () => {
    expect([amountText(Big('-0')), priceText(Big('0').neg()), rateText(Big(1))]).toEqual([
      '0.00',
      '0.000000',
      '1.000',
    ]);
  });
});
