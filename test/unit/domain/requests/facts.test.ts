import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ENTERPRISE_RULES } from '../../../../src/domain/enterprises/enterpriseRules.ts';
import {
  ENTERPRISE_STATUSES,
  enterpriseCanBecome,
  missingPermissions,
  missingReadyFacts,
  NOT_AUTHORIZED_FAULT,
  notReadyFault,
  notYetFault,
  READY_FACTS,
  type ReadyFact,
  SUSPENDED_FAULT,
} from '../../../../src/domain/enterprises/enterpriseStatus.ts';
import { normaliseMailbox } from '../../../../src/domain/mail/mail.ts';
import { formatCfeId, parseCfeId } from '../../../../src/domain/receipts/cfeId.ts';
import {
  CFE_STATUSES,
  type CfeStatus,
  canBecome,
  isFinal,
} from '../../../../src/domain/receipts/cfeStatus.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, cfeTypeOfCode } from '../../../../src/domain/receipts/cfeTypes.ts';
import { identificationLimit, yearsWithoutExactUi } from '../../../../src/domain/receipts/uiValues.ts';
import { vatPercents } from '../../../../src/domain/receipts/vat.ts';
import {
  addDays,
  daysBetween,
  instantOfMontevideo,
  isDate,
  montevideoDate,
  montevideoTimestamp,
} from '../../../../src/domain/values/montevideo.ts';
import { rutFault } from '../../../../src/domain/values/rut.ts';
import { ruc } from '../../../support/arbitraries/cfeRequests.ts';
import { checkAll } from '../support.ts';

describe('the status of a CFE', () => {
  const moves = (from: CfeStatus) => CFE_STATUSES.filter((to) => canBecome(from, to));

  test('moves forward only, and a verdict stays', () => {
    expect(Object.fromEntries(CFE_STATUSES.map((from) => [from, moves(from)]))).toEqual({
      PENDING: ['RECEIVED', 'ACCEPTED', 'REJECTED', 'OBSERVED'],
      RECEIVED: ['ACCEPTED', 'REJECTED', 'OBSERVED'],
      ACCEPTED: [],
      REJECTED: [],
      OBSERVED: [],
    });
  });

  test('is final with the verdict', () => {
    expect(CFE_STATUSES.filter(isFinal)).toEqual(['ACCEPTED', 'REJECTED', 'OBSERVED']);
  });
});

describe('the status of an enterprise', () => {
  test('becomes READY once, and is suspended and resumed', () => {
    const moves = ENTERPRISE_STATUSES.flatMap((from) =>
      ENTERPRISE_STATUSES.filter((to) => enterpriseCanBecome(from, to)).map((to) => `${from} ${to}`),
    );
    expect(moves).toEqual([
      'PENDING READY',
      'PENDING SUSPENDED',
      'READY SUSPENDED',
      'SUSPENDED PENDING',
      'SUSPENDED READY',
    ]);
  });

  test('lacks exactly the facts that are false', () => {
    const facts = Object.keys(READY_FACTS) as ReadyFact[];
    for (const missing of facts) {
      const held = Object.fromEntries(facts.map((fact) => [fact, fact !== missing])) as Record<
        ReadyFact,
        boolean
      >;
      expect(missingReadyFacts(held)).toEqual([missing]);
    }
  });

  test('that keeps from issuing is told with all that lacks', () => {
    expect(notReadyFault(['validCertificate', 'plan'])).toEqual({
      path: '',
      code: 'enterprise.not_ready',
      message: ENTERPRISE_RULES['enterprise.not_ready'].example,
    });
    expect(notReadyFault([]).message).toContain('in a moment');
    expect(NOT_AUTHORIZED_FAULT.message).toBe(ENTERPRISE_RULES['enterprise.not_authorized'].example);
    expect(notYetFault('2026-12-01').message).toBe(ENTERPRISE_RULES['enterprise.not_yet'].example);
    expect(SUSPENDED_FAULT.message).toBe(ENTERPRISE_RULES['enterprise.suspended'].example);
  });

  test('permissions that lack are told in order', () => {
    expect(missingPermissions([])).toEqual(['HOMO', 'PROD']);
    expect(missingPermissions(['PROD'])).toEqual(['HOMO']);
  });
});

test.each(['receipts/cfeStatus', 'enterprises/enterpriseStatus', 'values/montevideo', 'receipts/cfeTypes'])(
  '%s.ts imports nothing, for workflows',
  (name) => {
    const source = readFileSync(resolve(import.meta.dirname, `../../../../src/domain/${name}.ts`), 'utf8');
    expect(source).not.toMatch(/^import (?!type)/m);
  },
);

describe('a cfe_id', () => {
  test.each(CFE_TYPE_NAMES)('of type %s is its code, a hyphen and its place', (type) => {
    expect(parseCfeId(formatCfeId({ type, sequence: 12 }))).toEqual({ type, sequence: 12 });
    expect(cfeTypeOfCode(CFE_TYPES[type].code)).toBe(type);
  });

  test.each(['', '101', '101-', '101-0', '101-01', '-1', '104-1', '101-1 ', '101--1', '101-1e3', '０１-1'])(
    '%j is none',
    (text) => {
      expect(parseCfeId(text)).toBeUndefined();
    },
  );

  test('a place beyond every sequence is well-formed and names no CFE', () => {
    expect(parseCfeId('101-99999999999')).toEqual({ type: 'ETICKET', sequence: 2_147_483_647 });
  });
});

describe('a RUT', () => {
  test.each(['219999830019', '214844360018', '219000090011', '210475730011'])(
    '%s of the documents is one',
    (rut) => {
      expect(rutFault(rut)).toBeUndefined();
    },
  );

  test.each([
    '',
    '21999983001',
    '2199998300190',
    '21999983001a',
    '21.999.983.001-9',
    ' 219999830019',
    '２19999830019',
  ])('%j is not shaped like one', (text) => {
    expect(rutFault(text)).toMatchObject({ code: 'rut.malformed' });
  });

  test('has no other last digit than its own', () => {
    checkAll(ruc, 100, (rut) => {
      const others = Array.from('0123456789')
        .filter((digit) => digit !== rut[11])
        .map((digit) => rut.slice(0, 11) + digit);
      expect(rutFault(rut)).toBeUndefined();
      for (const other of others) expect(rutFault(other)?.code).toBe('rut.check_digit');
    });
  });

  test('whose first eleven digits have no check digit is refused whatever the last', () => {
    expect(rutFault('000000000060')?.message).toContain('no check digit fits');
  });
});

describe('time in Montevideo', () => {
  test('is three hours behind UTC, all year', () => {
    expect(montevideoDate(new Date('2026-01-01T02:59:59Z'))).toBe('2025-12-31');
    expect(montevideoDate(new Date('2026-01-01T03:00:00Z'))).toBe('2026-01-01');
    expect(montevideoTimestamp(new Date('2026-07-01T12:00:00.999Z'))).toBe('2026-07-01T09:00:00-03:00');
  });

  test('without zone is read as of there', () => {
    expect(instantOfMontevideo('2026-02-15T22:30:00')?.toISOString()).toBe('2026-02-16T01:30:00.000Z');
  });

  test.each([
    '2026-02-15',
    '2026-02-30T00:00:00',
    '2026-02-15T24:00:00',
    '2026-02-15T00:60:00',
    '2026-02-15T00:00:00Z',
    '2026-02-15T00:00',
    '2026-02-15 00:00:00',
  ])('%s is no date and time without zone', (text) => {
    expect(instantOfMontevideo(text)).toBeUndefined();
  });

  test.each(['2024-02-29', '2026-12-31', '0001-01-01'])('%s is a date', (text) => {
    expect(isDate(text)).toBe(true);
  });

  test.each([
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-1-01',
    '20260101',
    '2026-01-32',
    '',
    '+002026-01-01',
  ])('%j is no date', (text) => {
    expect(isDate(text)).toBe(false);
  });

  test('counts days both ways', () => {
    checkAll(
      fc.tuple(
        fc.date({ min: new Date('2000-01-01'), max: new Date('2050-01-01'), noInvalidDate: true }),
        fc.integer({ min: -900, max: 900 }),
      ),
      100,
      ([from, days]) => {
        const date = from.toISOString().slice(0, 10);
        expect(daysBetween(date, addDays(date, days))).toBe(days);
      },
    );
  });
});

describe('tables by date', () => {
  test('VAT is 10 and 22 per cent since October 2011', () => {
    const { minimum, basic } = vatPercents('2011-10-01');
    expect([minimum.toString(), basic.toString()]).toEqual(['10', '22']);
  });

  test('a date before the table has the first rates, not a rate of zero', () => {
    // A date that the rules refuse.
    expect(vatPercents('0361-02-25')).toEqual(vatPercents('2011-10-01'));
  });

  test('5,000 UI of 2026 are 32,104 pesos, and an estimate or a stand-in warns', () => {
    expect(identificationLimit({ year: 2026, value: '6.4208', estimate: true }).toFixed()).toBe('32104');
    const estimate = [{ year: 2026, value: '6.4208', estimate: true }];
    expect(yearsWithoutExactUi(estimate, '2026-11-30')).toEqual([{ year: 2026, why: 'estimate' }]);
    expect(yearsWithoutExactUi(estimate, '2026-12-01')).toEqual([
      { year: 2026, why: 'estimate' },
      { year: 2027, why: 'other year' },
    ]);
    expect(yearsWithoutExactUi([{ year: 2026, value: '6.4208', estimate: false }], '2026-11-30')).toEqual([]);
    expect(yearsWithoutExactUi([], '2026-11-30')).toEqual([{ year: 2026, why: 'none' }]);
  });
});

test.each([
  ['Ana.Paz+x@GMail.com', 'anapaz@gmail.com'],
  ['a.b+c@GoogleMail.com', 'ab@gmail.com'],
  ['a.b@gmail.com.example', 'a.b@gmail.com.example'],
  ['Ana.Paz+x@cliente.example', 'ana.paz@cliente.example'],
])('the mailbox of %s is %s', (destination, mailbox) => {
  expect(normaliseMailbox(destination)).toBe(mailbox);
});
