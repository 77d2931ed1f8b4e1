import { describe, expect, test } from '@jest/globals';
import { caeCheckDigit, isGtin, isIdentityCard, isRuc } from '../../../local/simulator/checkDigits.ts';
import { dayInMontevideo, daysAfter, inMontevideo, momentOf } from '../../../local/simulator/clock.ts';
import * as values from '../../../local/simulator/judge/format/values.ts';

describe('check digits', () => {
  test.each(['219999830019', '214844360018', '219000090011', '210475730011', '219999820013'])(
    '%s is a RUC',
    (ruc) => {
      expect(isRuc(ruc)).toBe(true);
    },
  );
  test.each(['219999830018', '21999983001', '2199998300199', '21999983001a', ''])('%s is none', (ruc) => {
    expect(isRuc(ruc)).toBe(false);
  });
  test('identity cards of 7 and 8 digits', () => {
    expect([isIdentityCard('13353214'), isIdentityCard('28793706'), isIdentityCard('13353215')]).toEqual([
      true,
      true,
      false,
    ]);
  });
  test.each(['90120000194', '90120000208', '90120000216', '90120000224', '90110001945'])(
    'CAE %s ends as the rule says',
    (number) => {
      expect(caeCheckDigit(number.slice(0, 10))).toBe(Number(number[10]));
    },
  );
  test('a GTIN of each length', () => {
    expect(isGtin('96385074', 8)).toBe(true);
    expect(isGtin('036000291452', 12)).toBe(true);
    expect(isGtin('4006381333931', 13)).toBe(true);
    expect(isGtin('4006381333932', 13)).toBe(false);
    expect(isGtin('96385074', 13)).toBe(false);
  });
});

describe('the clock', () => {
  test('writes moments and days of Montevideo', () => {
    const moment = new Date('2026-11-21T02:30:15.900Z');
    expect(inMontevideo(moment)).toBe('2026-11-20T23:30:15-03:00');
    expect(dayInMontevideo(moment)).toBe('2026-11-20');
    expect(daysAfter('2026-12-31', 1)).toBe('2027-01-01');
  });
  test('reads a text without an offset as Montevideo', () => {
    expect(momentOf('2026-11-20T23:30:15')?.toISOString()).toBe('2026-11-21T02:30:15.000Z');
    expect(momentOf('2026-11-20')?.toISOString()).toBe('2026-11-20T03:00:00.000Z');
    expect(momentOf('2026-11-20T23:30:15Z')?.toISOString()).toBe('2026-11-20T23:30:15.000Z');
    expect(momentOf('yesterday')).toBeNull();
  });
});

describe('what a leaf may hold', () => {
  test.each([
    [
      'amount',
      values.amount,
      ['0', '0.00', '999999999999999.99', '1.5'],
      ['', '-1', '1.234', '1,00', '1e3', ' 1', '1000000000000000'],
    ],
    ['signedAmount', values.signedAmount, ['-0.50', '0'], ['--1', '-', '1.']],
    ['price', values.price, ['0.000000', '99999999999.999999'], ['-1', '1.0000001']],
    ['exchangeRate', values.exchangeRate, ['40.125', '0.001'], ['0', '0.000', '10000', '1.2345']],
    ['vatRate', values.vatRate, ['10', '22.0', '22.000'], ['0', '22.0000', '21.000']],
    ['serie', values.serie, ['A', 'ZZ', '1A'], ['', 'a', 'Ñ', 'A1', '0A', 'AAA']],
    [
      'day',
      values.day('2011-10-01'),
      ['2011-10-01', '2028-02-29', '2050-12-31'],
      ['2011-09-30', '2051-01-01', '2026-02-29', '20260101'],
    ],
    [
      'moment',
      values.moment,
      ['2026-01-15T14:03:22-03:00', '2026-01-15T14:03:22Z'],
      ['2026-01-15T14:03:22', '2026-01-15', '2001-01-01T00:00:00Z'],
    ],
    ['text of 4', values.text(4, 'filled'), ['N/A', '𝄞𝄞𝄞𝄞'], ['', '   ', '12345']],
    ['country', values.country, ['UY', '99'], ['XK', 'uy', '']],
  ])('%s', (_name, check, good, bad) => {
    expect(good.map(check)).toEqual(good.map(() => ''));
    expect(bad.filter((text) => check(text) === '')).toEqual([]);
  });
});
