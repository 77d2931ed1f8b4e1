import { expect, test } from '@jest/globals';
import {
  dateText,
  decimalText,
  money,
  quantity,
  signedMoney,
} from '../../../../src/domain/values/figures.ts';

test.each([
  ['0.00', '0,00'],
  ['1.00', '1,00'],
  ['999.90', '999,90'],
  ['1000.00', '1.000,00'],
  ['123456789012345.67', '123.456.789.012.345,67'],
  ['-1234.50', '−1.234,50'],
])('%s is %s', (text, shown) => expect(signedMoney(text)).toBe(shown));

test('a hyphen stands for a minus sign on prints', () => expect(money('-1234.5')).toBe('-1.234,50'));

test.each([
  ['40.125', '40,125'],
  ['1234.50', '1.234,50'],
  ['1000', '1.000'],
  ['-1000.5', '-1.000,5'],
  ['0012.0', '12,0'],
  ['N/A', 'N/A'],
])('%s as it stands is %s', (text, shown) => expect(decimalText(text)).toBe(shown));

test('a quantity', () => expect(['2.000', '1000.50'].map(quantity)).toEqual(['2', '1.000,5']));

test.each([
  ['2.000', 0, '2'],
  ['2.500', 0, '2,5'],
  ['1000.001', 0, '1.000,001'],
  ['10.000000', 2, '10,00'],
  ['10.123456', 2, '10,123456'],
  ['10.100000', 2, '10,10'],
  ['7', 2, '7,00'],
])('%s with at least %i decimals is %s', (text, least, shown) =>
  expect(decimalText(text, least)).toBe(shown),
);

test('a date', () => expect(dateText('2026-09-05')).toBe('05/09/2026'));
