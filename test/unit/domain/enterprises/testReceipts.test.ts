import { describe, expect, test } from '@jest/globals';
import { testReceiptBody } from '../../../../src/domain/enterprises/testReceipts.ts';
import {
  countItems,
  placeIn,
  planNext,
  type TestItem,
} from '../../../../src/domain/enterprises/testRunPlan.ts';
import { readCfeRequest } from '../../../../src/domain/receipts/cfeReading.ts';
import { checkCfe } from '../../../../src/domain/receipts/cfeRules.ts';
import { CFE_TYPE_NAMES, type CfeType, cfeTypeRow } from '../../../../src/domain/receipts/cfeTypes.ts';

const DAY = '2026-11-20';
const RUT = '211111110019';
const EACH = 52;

const bodyOf = (type: CfeType, index: number): unknown =>
  testReceiptBody({ type, index, day: DAY, issuerRut: RUT, originalId: null, rates: { USD: '39.85' } });
const isNote = (type: CfeType): boolean => cfeTypeRow(type).note !== null;

describe('the receipts of a test run', () => {
  test.each(CFE_TYPE_NAMES.filter((type) => !isNote(type)))('%s: each of 52 keeps every rule', (type) => {
    for (let index = 0; index < EACH; index += 1) {
      const checked = checkCfe(readCfeRequest(bodyOf(type, index), DAY), {
        today: DAY,
        uiValue: { year: 2026, value: '6.4208', estimate: false },
        lastRate: null,
        originals: new Map(),
        issuedHere: new Map(),
      });
      expect(checked.ok ? [] : checked.faults).toEqual([]);
    }
  });

  test('they vary: rates, currencies, both price modes, receivers, payment, dates', () => {
    const texts = Array.from({ length: EACH }, (_, index) =>
      JSON.stringify(
        testReceiptBody({ type: 'ETICKET', index, day: DAY, issuerRut: RUT, originalId: null, rates: {} }),
      ),
    );
    for (const part of [
      '"BASIC_RATE"',
      '"MINIMUM_RATE"',
      '"EXEMPT"',
      '"FREE"',
      '"NON_BILLABLE_NEGATIVE"',
      '"currency":"UYU"',
      '"currency":"USD"',
      '"currency":"EUR"',
      '"CASH"',
      '"CREDIT"',
      '219000090011',
      '219999820013',
      `"emission_date":"${DAY}"`,
      '"emission_date":"2026-11-17"',
    ]) {
      expect(texts.some((text) => text.includes(part))).toBe(true);
    }
  });

  test('a company is not its own receiver', () => {
    const text = JSON.stringify(
      testReceiptBody({
        type: 'EFACTURA',
        index: 0,
        day: DAY,
        issuerRut: '219000090011',
        originalId: null,
        rates: {},
      }),
    );
    expect(text).not.toContain('219000090011');
    expect(text).toContain('219999820013');
  });
});

describe('the order of a test run', () => {
  const items = (status: TestItem['status'], more: Partial<TestItem>[] = []): TestItem[] =>
    (['ETICKET', 'ETICKET_NC', 'ETICKET', 'ETICKET_NC'] as const).map((type, at) => {
      const issued = !isNote(type) && status !== null;
      return {
        place: at + 1,
        type,
        sequence: issued ? at + 7 : null,
        status: issued ? status : null,
        ...more[at],
      };
    });

  test('originals first, notes once all have their verdicts, to received ones in turn', () => {
    expect(planNext(items(null)).next.map(({ place }) => place)).toEqual([1, 3]);
    expect(planNext(items('RECEIVED'))).toEqual({ next: [], isWaiting: true });
    const accepted = items('ACCEPTED');
    expect(planNext(accepted).next.map(({ place }) => place)).toEqual([2, 4]);
    expect(planNext(accepted).next.map((note) => placeIn(accepted, note))).toEqual([
      { index: 0, originalId: '101-7' },
      { index: 1, originalId: '101-9' },
    ]);
  });

  test('a rejected original gets no note, and without a received one no note is issued', () => {
    const mixed = items('ACCEPTED', [{ status: 'REJECTED' }]);
    expect(planNext(mixed).next.map((note) => placeIn(mixed, note).originalId)).toEqual(['101-9', '101-9']);
    const none = items('REJECTED');
    expect(planNext(none)).toEqual({ next: [], isWaiting: false });
    expect(countItems(none)).toEqual([
      { type: 'ETICKET', wanted: 2, received: 0, rejected: 2, pending: 0 },
      { type: 'ETICKET_NC', wanted: 2, received: 0, rejected: 0, pending: 2 },
    ]);
  });
});
