import { describe, expect, test } from '@jest/globals';
import {
  type CaeContext,
  type CaeFacts,
  caeFaults,
  caeStatus,
  chooseCae,
  noNumbersLeftFault,
  specialKindFaults,
} from '../../../../src/domain/numbers/cae.ts';
import { CAE_RULES, type CaeRule, caeFault } from '../../../../src/domain/numbers/caeRules.ts';

const CAE: CaeFacts = {
  issuerRut: '219999830019',
  typeCode: 101,
  serie: 'A',
  numberStart: 1,
  numberEnd: 100,
  authorizationNumber: '90120000194',
  issueDate: '2026-01-01',
  expirationDate: '2027-12-31',
  use: 'E',
};
const CONTEXT: CaeContext = { rut: '219999830019', startNumber: 1, today: '2026-02-10', storedRanges: [] };
const held = (more = {}) => [
  {
    type: 'ETICKET',
    serie: 'A',
    numberStart: 50,
    numberEnd: 150,
    authorizationNumber: '90120000194',
    ...more,
  } as const,
];

/** How each rule on the content of an upload is broken, alone. */
const BROKEN: Partial<Record<CaeRule, [Partial<CaeFacts>, Partial<CaeContext>?]>> = {
  'cae.other_rut': [{ issuerRut: '219999820013' }],
  'cae.type': [{ typeCode: 181 }],
  'cae.series': [{ serie: 'A1' }],
  'cae.authorization_number': [{ authorizationNumber: '9012X' }],
  'cae.not_electronic': [{ use: 'C' }],
  'cae.special': [{ special: { kind: 5 } }],
  'cae.special_cause': [{ special: { kind: 1 } }],
  'cae.dates': [{ issueDate: '2026-02-01', expirationDate: '2026-01-01' }],
  'cae.expired': [{ expirationDate: '2026-01-31' }],
  'cae.not_yet_valid': [{ issueDate: '2026-03-01' }],
  'cae.range': [{ numberStart: 200 }],
  'cae.start_out_of_range': [{}, { startNumber: 101 }],
  'cae.known': [{}, { storedRanges: held() }],
  'cae.overlap': [{ authorizationNumber: '90120000208' }, { storedRanges: held() }],
};

describe('an uploaded CAE', () => {
  test('that is sound is taken', () => {
    expect(caeFaults(CAE, CONTEXT)).toEqual([]);
  });

  test.each(Object.entries(BROKEN))(
    'is refused with %s, alone, at its place, with the message of its row',
    (code, [facts, context]) => {
      const { path, example: message } = CAE_RULES[code as CaeRule];
      expect(caeFaults({ ...CAE, ...facts }, { ...CONTEXT, ...context })).toEqual([{ path, code, message }]);
    },
  );

  test.each<[string, Partial<CaeFacts>, Partial<CaeContext>?]>([
    ['of the older layout without TA', { use: undefined }],
    ['of an exempt taxpayer', { special: { kind: 1, cause: '7' } }],
    ['of IVA mínimo', { special: { kind: 2 } }],
    ['of Monotributo', { special: { kind: 3 } }],
    ['of Monotributo Social MIDES', { special: { kind: 4 } }],
    ['expiring today', { expirationDate: '2026-02-10' }],
    ['issued today', { issueDate: '2026-02-10' }],
    ['of one number', { numberEnd: 1 }],
    ['up to the last number', { numberEnd: 9_999_999 }],
    ['of serie 1A', { serie: '1A' }],
    [
      'beside another range of the same serie',
      { authorizationNumber: '1' },
      { storedRanges: held({ numberStart: 101 }) },
    ],
    [
      'over the same range of another serie',
      { authorizationNumber: '1' },
      { storedRanges: held({ serie: 'B' }) },
    ],
    [
      'over the same range of another type',
      { authorizationNumber: '1' },
      { storedRanges: held({ type: 'EFACTURA' }) },
    ],
  ])('%s is taken', (_, facts, context = {}) => {
    expect(caeFaults({ ...CAE, ...facts }, { ...CONTEXT, ...context })).toEqual([]);
  });

  test.each<[Partial<CaeFacts>, string]>([
    [{ serie: 'Ñ' }, 'cae.series'],
    [{ serie: 'ABC' }, 'cae.series'],
    [{ serie: '' }, 'cae.series'],
    [{ serie: '0A' }, 'cae.series'],
    [{ numberStart: 0 }, 'cae.range'],
    [{ numberEnd: 10_000_000 }, 'cae.range'],
    [{ numberEnd: Number.NaN }, 'cae.range'],
    [{ issueDate: 'yesterday' }, 'cae.dates'],
    [{ special: { kind: 1, cause: '1234' } }, 'cae.special_cause'],
    [{ special: { kind: 0 } }, 'cae.special'],
  ])('with %j is refused with %s', (facts, code) => {
    expect(caeFaults({ ...CAE, ...facts }, CONTEXT).map((fault) => fault.code)).toEqual([code]);
  });

  test('with many faults is told all of them at once', () => {
    const facts = { ...CAE, issuerRut: '219999820013', expirationDate: '2026-01-31', special: { kind: 9 } };
    expect(caeFaults(facts, { ...CONTEXT, startNumber: 0 }).map(({ code }) => code)).toEqual([
      'cae.other_rut',
      'cae.special',
      'cae.expired',
      'cae.start_out_of_range',
    ]);
  });

  test('whose file cannot be read or trusted has its words too', () => {
    expect(caeFault('cae.signature')).toEqual({
      path: '/cae_b64',
      code: 'cae.signature',
      message: CAE_RULES['cae.signature'].example,
    });
  });
});

describe('the status of a CAE', () => {
  test('is OK to the end of its last day, exhausted or not', () => {
    expect([caeStatus(CAE, '2027-12-31'), caeStatus(CAE, '2028-01-01')]).toEqual(['OK', 'EXPIRED']);
  });
});

describe('the choice of a CAE', () => {
  const range = (id: string, expirationDate: string, numberStart: number, more = {}) => ({
    id,
    expirationDate,
    numberStart,
    numberEnd: numberStart + 9,
    numbersLeft: 10,
    issueDate: '2026-01-01',
    ...more,
  });

  test.each<[string, ReturnType<typeof range>[], string | undefined]>([
    ['none held', [], undefined],
    ['earliest expiry first', [range('late', '2027-02-01', 1), range('early', '2026-03-01', 100)], 'early'],
    ['then lowest number', [range('high', '2026-03-01', 100), range('low', '2026-03-01', 1)], 'low'],
    [
      'exhausted ones are passed over',
      [range('spent', '2026-03-01', 1, { numbersLeft: 0 }), range('next', '2027-02-01', 11)],
      'next',
    ],
    ['expired ones too', [range('old', '2026-02-09', 1), range('next', '2027-02-01', 11)], 'next'],
    ['and those of the future', [range('future', '2026-03-01', 1, { issueDate: '2026-02-11' })], undefined],
    ['the last number is still given', [range('last', '2026-03-01', 1, { numbersLeft: 1 })], 'last'],
    ['on its last day too', [range('today', '2026-02-10', 1)], 'today'],
  ])('%s', (_, caes, chosen) => {
    expect(chooseCae(caes, '2026-02-10')?.id).toBe(chosen);
  });

  test('that leaves none is a fault that names the type', () => {
    expect(noNumbersLeftFault('ETICKET')).toEqual({
      path: '',
      code: 'cae.none_left',
      message: CAE_RULES['cae.none_left'].example,
    });
  });

  test.each([
    [1, 'line.exempt_taxpayer'],
    [2, 'line.small_taxpayer'],
    [3, 'line.small_taxpayer'],
    [4, 'line.small_taxpayer'],
  ] as const)('of special kind %d allows no line with VAT: %s', (kind, code) => {
    const lines = ['BASIC_RATE', 'EXEMPT', 'FREE', 'EXPORT', 'NON_BILLABLE', 'PERCEIVED'] as const;
    const { path, example } = CAE_RULES[code];
    expect(specialKindFaults(kind, lines)[0]).toEqual({ path, code, message: example });
    expect(specialKindFaults(kind, lines).map((fault) => fault.path)).toEqual([
      '/details/0/iva_type',
      '/details/5/iva_type',
    ]);
    expect(specialKindFaults(null, lines)).toEqual([]);
  });
});
