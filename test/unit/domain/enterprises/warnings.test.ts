import { describe, expect, test } from '@jest/globals';
import {
  daysLeft,
  dueWarnings,
  lowNumbers,
  type WarnedCae,
} from '../../../../src/domain/enterprises/warnings.ts';
import type { CfeType } from '../../../../src/domain/receipts/cfeTypes.ts';

const TODAY = '2026-11-22';
const cae = (wishes: Partial<WarnedCae> = {}): WarnedCae => ({
  id: 'cae-1',
  type: 'ETICKET',
  serie: 'A',
  authorizationNumber: '90260000194',
  numberStart: 1,
  numberEnd: 1000,
  numbersLeft: 1000,
  issueDate: '2026-01-01',
  expirationDate: '2028-01-01',
  ...wishes,
});
const warned = (
  caes: WarnedCae[],
  used: [CfeType, number][] = [],
  certificate: { id: string; expirationDate: string } | null = null,
) =>
  dueWarnings({ rut: '219999830019', caes, certificate, usedLately: new Map(used) }, TODAY).map(
    ({ about, event }) => [about, event.data] as const,
  );

describe('days left', () => {
  test.each([
    [100, 28, 100],
    [100, 29, 96],
    [99, 2800, 0],
    [0, 28, 0],
    [100, 0, null],
  ])('%i numbers, of which %i were used in 28 days, last %s days', (numbers, used, days) => {
    expect(daysLeft(numbers, used)).toBe(days);
  });
});

test('the types that run low are those that are warned of, each with what it has left', () => {
  const caes = [
    cae({ numbersLeft: 99 }),
    cae({ type: 'EFACTURA', numbersLeft: 500 }),
    cae({ type: 'ETICKET_NC', numbersLeft: 0 }),
  ];
  const usedLately = new Map<CfeType, number>([['ETICKET', 28]]);
  expect(lowNumbers({ caes, usedLately }, TODAY)).toEqual([
    { type: 'ETICKET', numbersLeft: 99, daysLeft: 99 },
    { type: 'ETICKET_NC', numbersLeft: 0, daysLeft: null },
  ]);
});

describe('cae.low', () => {
  test.each([
    ['a tenth is left', [cae({ numbersLeft: 100 })], 0, undefined],
    ['less than a tenth', [cae({ numbersLeft: 99 })], 0, { numbers_left: 99, days_left: null }],
    ['nothing', [cae({ numbersLeft: 0 })], 0, { numbers_left: 0, days_left: null }],
    ['seven days', [cae({ numbersLeft: 700 })], 2800, undefined],
    ['less than seven days', [cae({ numbersLeft: 699 })], 2800, { numbers_left: 699, days_left: 6 }],
    [
      'a fresh CAE beside an exhausted one',
      [cae({ numbersLeft: 0 }), cae({ id: 'cae-2', numberStart: 1001, numberEnd: 1100, numbersLeft: 100 })],
      0,
      undefined,
    ],
    [
      'an expired one alone, of a type in use',
      [cae({ expirationDate: '2026-11-21' })],
      5,
      { numbers_left: 0 },
    ],
    ['an expired one alone, of a type not in use', [cae({ expirationDate: '2026-11-21' })], 0, undefined],
    [
      'one that is not valid yet, of a type in use',
      [cae({ issueDate: '2026-11-23' })],
      5,
      { numbers_left: 0 },
    ],
  ])('%s', (_, caes, used, expected) => {
    const low = warned(caes, [['ETICKET', used]]).filter(([about]) => about === 'cae.low/ETICKET');
    expect(low.map(([, data]) => data)).toEqual(
      expected
        ? [expect.objectContaining({ enterprise_rut: '219999830019', cfe_type: 'ETICKET', ...expected })]
        : [],
    );
  });

  test('is judged for each type by itself', () => {
    const caes = [cae({ numbersLeft: 10 }), cae({ id: 'cae-2', type: 'EFACTURA' })];
    expect(warned(caes, [['EFACTURA', 10]]).map(([about]) => about)).toEqual(['cae.low/ETICKET']);
  });
});

describe('papers that expire', () => {
  test.each([
    ['2026-12-23', undefined],
    ['2026-12-22', 30],
    ['2026-11-30', 30],
    ['2026-11-29', 7],
    ['2026-11-24', 7],
    ['2026-11-23', 1],
    ['2026-11-22', 1],
    ['2026-11-21', undefined],
  ])('on %s: the warning of %s days before', (expirationDate, before) => {
    const days = (Date.parse(expirationDate) - Date.parse(TODAY)) / 86_400_000;
    const expected = before === undefined ? [] : [{ expiration_date: expirationDate, days_left: days }];

    const certificate = warned([], [], { id: 'certificate-1', expirationDate });
    expect(certificate).toEqual(
      expected.map((data) => [
        `certificate.expiring/certificate-1/${before}`,
        { enterprise_rut: '219999830019', ...data },
      ]),
    );
    const ofCae = warned([cae({ expirationDate })]).filter(([about]) => about.startsWith('cae.expiring'));
    expect(ofCae).toEqual(
      expected.map((data) => [
        `cae.expiring/cae-1/${before}`,
        {
          enterprise_rut: '219999830019',
          cfe_type: 'ETICKET',
          serie: 'A',
          authorization_number: '90260000194',
          numbers_left: 1000,
          ...data,
        },
      ]),
    );
  });

  test('a CAE that has no numbers left may expire unnoticed', () => {
    const caes = [
      cae({ numbersLeft: 0, expirationDate: '2026-11-25' }),
      cae({ id: 'cae-2', numberStart: 1001, numberEnd: 2000, numbersLeft: 1000 }),
    ];
    expect(warned(caes)).toEqual([]);
  });
});
