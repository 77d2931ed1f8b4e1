import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { Decimal } from '../../../sdk/src/decimal.ts';
import { readJson, writeJson } from '../../../sdk/src/json.ts';

describe('decimals of the SDK', () => {
  test.each([
    ['122.00', '122.00'],
    ['-0.005', '-0.005'],
    [0.1, '0.1'],
    [1e21, '1000000000000000000000'],
    ['1.5e-7', '0.00000015'],
    [12n, '12'],
  ])('%s is read as %s', (given, text) => {
    expect(String(Decimal.of(given))).toBe(text);
  });

  test.each(['', '1,5', 'NaN', '.5', '1.', '0x10', '1e999'])('%j is refused', (given) => {
    expect(() => Decimal.of(given)).toThrow(RangeError);
  });

  test('sums, products and rounding are exact', () => {
    expect(String(Decimal.of('0.1').plus('0.2'))).toBe('0.3');
    expect(String(Decimal.of('999999999999999.99').minus('0.01'))).toBe('999999999999999.98');
    expect(String(Decimal.of('100.00').times('0.22').round(2))).toBe('22.00');
    expect([2.5, -2.5, 1.005, 7].map((value) => String(Decimal.of(value).round(2)))).toEqual([
      '2.50',
      '-2.50',
      '1.01',
      '7.00',
    ]);
    expect(String(Decimal.of('-0.5').round(0))).toBe('-1');
    expect(Decimal.of('2.0').equals(2)).toBe(true);
    expect(Decimal.of('-3').compare('2')).toBe(-1);
  });

  test('divides to so many places, halves away from zero; not by zero', () => {
    expect(String(Decimal.of('122').dividedBy('1.22', 2))).toBe('100.00');
    expect(String(Decimal.of('125').dividedBy('1.22', 6))).toBe('102.459016');
    expect(['0.05', '-0.05', '0.049'].map((value) => String(Decimal.of(value).dividedBy(1, 1)))).toEqual([
      '0.1',
      '-0.1',
      '0.0',
    ]);
    expect(String(Decimal.of('-1').dividedBy('-0.003', 0))).toBe('333');
    expect(() => Decimal.of(1).dividedBy('0.00', 2)).toThrow('division by zero');
  });

  test('is seen in a log', () => {
    expect(inspect({ total: Decimal.of('122.00') })).toBe('{ total: Decimal(122.00) }');
  });

  test('JSON keeps every digit of an amount, in both directions, and leaves other numbers alone', () => {
    const text = '{"total_amount":999999999999999.99,"numero":12,"items":[{"unit_price":0.000001}]}';

    const read = readJson(text) as { total_amount: Decimal; numero: number };

    expect(read.total_amount).toBeInstanceOf(Decimal);
    expect(read.numero).toBe(12);
    expect(writeJson(read)).toBe(text);
    expect(writeJson({ pay_amount: Decimal.of('122.00'), count: 2 })).toBe('{"pay_amount":122.00,"count":2}');
  });
});
