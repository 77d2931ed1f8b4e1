import { describe, expect, test } from '@jest/globals';
import { createRanges, DuplicateNumber } from '../../../../src/domain/reports/ranges.ts';
import { rateSource, wantedRate } from '../../../../src/domain/reports/rate.ts';
import {
  createDaySums,
  MOST_RANGES,
  MOST_ROWS,
  ReportTooLarge,
} from '../../../../src/domain/reports/summary.ts';
import { addDays } from '../../../../src/domain/values/montevideo.ts';
import { aReceipt, issuedOf } from '../../../support/reports/receipts.ts';

const UI = [{ year: 2026, value: '6.4208', estimate: false }];
const SIGNED_ON = '2026-03-11';
const close = (sums: ReturnType<typeof createDaySums>, rates: Record<string, string> = {}) =>
  sums.close({ signedOn: SIGNED_ON, rateOf: ({ currency, date }) => rates[`${currency} ${date}`] ?? null });
const basic = (net: string, vat: string) => ({ basicNet: net, basicVat: vat });

describe('the rate of a receipt', () => {
  test.each([
    ['ETICKET', 'UYU', 'none'],
    ['EFACTURA', 'USD', 'bank'],
    ['EFACTURA_EXPORT', 'EUR', 'bank'],
    ['ETICKET_NC', 'USD', 'own'],
    ['EFACTURA_ND', 'USD', 'own'],
    ['EFACTURA_EXPORT_ND', 'EUR', 'own'],
    ['EFACTURA_NC', 'UYU', 'none'],
    ['EFACTURA', 'UYI', 'own'],
    ['ETICKET', 'UYR', 'own'],
  ] as const)('of %s in %s is %s', (type, currency, source) => {
    expect(rateSource(type, currency)).toBe(source);
  });

  test('is quoted at the close of the day before it was emitted', () => {
    expect(wantedRate('USD', '2026-03-01', '2026-03-02')).toEqual({ currency: 'USD', date: '2026-02-28' });
  });

  test('is its own where it is dated after the moment of signing the report', () => {
    expect(wantedRate('USD', '2026-03-11', SIGNED_ON)).not.toBeNull();
    expect(wantedRate('USD', '2026-03-12', SIGNED_ON)).toBeNull();
  });
});

describe('sums in another currency', () => {
  const USD = { currency: 'USD', exchangeRate: '40.000' };
  const day = () => {
    const sums = createDaySums(UI);
    for (const numero of [1, 2, 3])
      sums.addIssued(issuedOf(aReceipt('EFACTURA', numero, { ...USD, ...basic('0.01', '0.00') })));
    return sums;
  };

  test('are converted exactly and rounded once', () => {
    // 0.03 × 38.50001: three times 0.3850001 is 1.1550003; rounded one by one it would be 1.17.
    const [type] = close(day(), { 'USD 2026-03-09': '38.50001' }).types;
    expect(type?.rows).toMatchObject([{ basicNet: '1.16', total: '1.16' }]);
  });

  test('want one quotation for each currency and day, and may be closed again with another', () => {
    const sums = day();
    expect(sums.wantedRates(SIGNED_ON)).toEqual([{ currency: 'USD', date: '2026-03-09' }]);
    expect(close(sums, { 'USD 2026-03-09': '38' }).types[0]?.rows[0]?.total).toBe('1.14');
    expect(close(sums, { 'USD 2026-03-09': '39' }).types[0]?.rows[0]?.total).toBe('1.17');
  });

  test('count by the own rates of the receipts where the currency is quoted nowhere', () => {
    expect(close(day()).types[0]?.rows[0]?.total).toBe('1.20');
  });

  test('of notes count by their own rates and want no quotation', () => {
    const sums = createDaySums(UI);
    sums.addIssued(
      issuedOf(aReceipt('EFACTURA_NC', 1, { ...USD, exchangeRate: '38.600', ...basic('100.00', '22.00') })),
    );
    expect(sums.wantedRates(SIGNED_ON)).toEqual([]);
    expect(close(sums, { 'USD 2026-03-09': '1' }).types[0]?.rows[0]).toMatchObject({
      basicNet: '3860.00',
      basicVat: '849.20',
      total: '4709.20',
    });
  });
});

describe('the count above 5,000 UI', () => {
  const above = (
    type: 'ETICKET' | 'ETICKET_NC' | 'EFACTURA',
    totals: Parameters<typeof aReceipt>[2],
    year = '2026',
  ) => {
    const sums = createDaySums([{ year: 2025, value: '6.0000', estimate: false }, ...UI]);
    sums.addIssued(issuedOf(aReceipt(type, 1, totals, { emissionDate: `${year}-03-10` })));
    return close(sums).types[0]?.aboveUiLimit;
  };

  test('is strict, without VAT, by the value of the year of emission', () => {
    expect(above('ETICKET', basic('32104.00', '7062.88'))).toBe(0);
    expect(above('ETICKET', basic('32104.01', '7062.88'))).toBe(1);
    expect(above('ETICKET', basic('30000.01', '0.00'), '2025')).toBe(1);
    expect(above('ETICKET_NC', { exempt: '20000.00', minimumNet: '12104.01' })).toBe(1);
  });

  test('is by the own rate of the receipt', () => {
    expect(above('ETICKET', { currency: 'USD', exchangeRate: '32.104', exempt: '1000.00' })).toBe(0);
    expect(above('ETICKET', { currency: 'USD', exchangeRate: '32.105', exempt: '1000.00' })).toBe(1);
  });

  test('is no matter of other types', () => {
    expect(above('EFACTURA', basic('99999.00', '0.00'))).toBeNull();
  });
});

describe('numbers', () => {
  test('that were annulled count as used and stand in both lists; a hole only starts a range', () => {
    const sums = createDaySums(UI);
    for (const numero of [3, 1, 2, 7])
      sums.addIssued(issuedOf(aReceipt('ETICKET', numero, { exempt: '1.00' })));
    sums.addAnnulled({ type: 'ETICKET', serie: 'A', from: 4, to: 5 });
    expect(close(sums)).toMatchObject({
      used: 6,
      types: [
        {
          used: 6,
          annulled: 2,
          issued: 4,
          usedRanges: [
            { serie: 'A', from: 1, to: 5 },
            { serie: 'A', from: 7, to: 7 },
          ],
          annulledRanges: [{ serie: 'A', from: 4, to: 5 }],
        },
      ],
    });
  });

  test('all annulled leave a type without rows', () => {
    const sums = createDaySums(UI);
    sums.addAnnulled({ type: 'ETICKET_ND', serie: 'A', from: 77, to: 77 });
    expect(close(sums).types[0]).toMatchObject({
      used: 1,
      annulled: 1,
      issued: 0,
      aboveUiLimit: 0,
      rows: [],
    });
  });

  test('that count twice are told, however they were added', () => {
    const sums = createDaySums(UI);
    sums.addIssued(issuedOf(aReceipt('ETICKET', 5, { exempt: '1.00' })));
    sums.addAnnulled({ type: 'ETICKET', serie: 'A', from: 1, to: 9 });
    expect(() => close(sums)).toThrow(DuplicateNumber);
    expect(() => close(sums)).toThrow(/e-Ticket \(101\), serie A, number 5 counts twice/);
  });

  test('in the worst order are held in no more than their ranges', () => {
    const ranges = createRanges('e-Ticket (101)');
    for (let numero = 1; numero <= 100_000; numero += 2) ranges.add({ serie: 'A', from: numero, to: numero });
    for (let numero = 100_000; numero > 0; numero -= 2) ranges.add({ serie: 'A', from: numero, to: numero });
    expect(ranges.merged()).toEqual([{ serie: 'A', from: 1, to: 100_000 }]);
  });
});

describe('a day that one report cannot hold', () => {
  test('is told with the type, the number found and the number allowed', () => {
    const sums = createDaySums(UI);
    for (let index = 0; index <= MOST_RANGES; index += 1)
      sums.addIssued(issuedOf(aReceipt('ETICKET', 2 * index + 1, { exempt: '1.00' })));
    expect(() => close(sums)).toThrow(ReportTooLarge);
    expect(() => close(sums)).toThrow(
      /10001 ranges of used numbers of e-Ticket \(101\); a report can have 10000/,
    );
  });

  test('may have its limit of rows, and no row more', () => {
    const sums = createDaySums(UI);
    const issue = (index: number) =>
      sums.addIssued(
        issuedOf(
          aReceipt(
            'EFACTURA',
            index + 1,
            { exempt: '1.00' },
            {
              emissionDate: addDays('2026-02-01', index % 40),
              branch: Math.floor(index / 40),
            },
          ),
        ),
      );
    for (let index = 0; index < MOST_ROWS; index += 1) issue(index);
    expect(close(sums).types[0]?.rows).toHaveLength(MOST_ROWS);
    issue(MOST_ROWS);
    expect(() => close(sums)).toThrow(
      /1001 days of emission and branches of e-Factura \(111\); a report can have 1000/,
    );
  });

  test('may come to 15 digits, and not to 16', () => {
    const sums = createDaySums(UI);
    const issue = (numero: number, exempt: string) =>
      sums.addIssued(issuedOf(aReceipt('EFACTURA', numero, { exempt })));
    issue(1, '999999999999999.99');
    expect(close(sums).types[0]?.rows[0]?.total).toBe('999999999999999.99');
    issue(2, '0.01');
    expect(() => close(sums)).toThrow(
      /e-Factura \(111\), emitted on 2026-03-10 by branch 1, have more than 15 digits/,
    );
  });
});
