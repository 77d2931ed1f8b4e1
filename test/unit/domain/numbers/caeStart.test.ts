import { describe, expect, test } from '@jest/globals';
import {
  type CaeStartFinding,
  caeStartFindings,
  caeWarnings,
  isCaeStartOver,
} from '../../../../src/domain/numbers/caeStart.ts';

const CAE = {
  type: 'ETICKET',
  serie: 'A',
  authorizationNumber: '90260000194',
  expirationDate: '2027-12-31',
  lastNumber: 499,
  numbersLeft: 501,
  startNumber: 500,
  startFindings: ['before_unknown', 'first_known'],
} as const;
const codes = (cae: Partial<Parameters<typeof caeWarnings>[0]>, today = '2026-11-20') =>
  caeWarnings({ ...CAE, ...cae }, today).map(({ code }) => code);

test.each<[boolean, boolean | null, CaeStartFinding[]]>([
  [true, false, []],
  [true, null, []],
  [true, true, ['first_known']],
  [false, false, ['before_unknown']],
  [false, null, ['before_unknown']],
  [false, true, ['before_unknown', 'first_known']],
])('the number before known: %s; the first: %s', (isBeforeKnown, isFirstKnown, findings) => {
  expect(caeStartFindings({ isBeforeKnown, isFirstKnown })).toEqual(findings);
});

describe('warnings', () => {
  test('name the number, the CAE and what to do', () => {
    expect(caeWarnings(CAE, '2026-11-20')).toEqual([
      {
        code: 'cae.number_before_unknown',
        message:
          'The tax authority does not know ETICKET A 499, the last number before the numbers that this service uses from CAE 90260000194: check which number the earlier system used last.',
      },
      {
        code: 'cae.first_number_known',
        message:
          'The tax authority already knows ETICKET A 500, the first number that this service uses from CAE 90260000194: the operator of the service must skip what the earlier system used.',
      },
    ]);
  });

  test('about the first number end when it was used or skipped; all end with the CAE', () => {
    expect(codes({ lastNumber: 500 })).toEqual(['cae.number_before_unknown']);
    expect(codes({}, '2027-12-31')).toHaveLength(2);
    expect(codes({}, '2028-01-01')).toEqual([]);
    expect(codes({ numbersLeft: 0, lastNumber: 1_000 })).toEqual([]);
  });

  test('there are none before the authority has answered, nor without a first number of its own', () => {
    expect(codes({ startFindings: null })).toEqual([]);
    expect(codes({ startFindings: [] })).toEqual([]);
    expect(codes({ startNumber: null, startFindings: null })).toEqual([]);
  });
});

test('the authority is asked for 60 days, and only while the CAE gives numbers', () => {
  const createdAt = new Date('2026-11-01T12:00:00Z');
  const after = (days: number) => new Date(createdAt.getTime() + days * 86_400_000);
  const isOver = (days: number, more = {}) =>
    isCaeStartOver({ ...CAE, createdAt, expirationDate: '2028-01-01', ...more }, after(days));
  expect([isOver(0), isOver(59.9), isOver(60)]).toEqual([false, false, true]);
  expect(isOver(1, { numbersLeft: 0 })).toBe(true);
  expect(isOver(3, { expirationDate: '2026-11-03' })).toBe(true);
});
