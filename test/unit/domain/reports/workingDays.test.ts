import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  holidaysOf,
  isWorkingDay,
  nextWorkingDay,
  reportDueAt,
} from '../../../../src/domain/reports/workingDays.ts';
import { addDays } from '../../../../src/domain/values/montevideo.ts';

/** Holidays from Monday to Friday as the calendars of those years print them. */
const PRINTED: Readonly<Record<number, readonly string[]>> = {
  2024: [
    '01-01',
    '02-12',
    '02-13',
    '03-25',
    '03-26',
    '03-27',
    '03-28',
    '03-29',
    '04-22',
    '05-01',
    '06-19',
    '07-18',
    '12-25',
  ],
  2025: [
    '01-01',
    '01-06',
    '03-03',
    '03-04',
    '04-14',
    '04-15',
    '04-16',
    '04-17',
    '04-18',
    '05-01',
    '06-19',
    '07-18',
    '08-25',
    '12-25',
  ],
  2026: [
    '01-01',
    '01-06',
    '02-16',
    '02-17',
    '03-30',
    '03-31',
    '04-01',
    '04-02',
    '04-03',
    '05-01',
    '05-18',
    '06-19',
    '08-25',
    '10-12',
    '11-02',
    '12-25',
  ],
  2027: [
    '01-01',
    '01-06',
    '02-08',
    '02-09',
    '03-22',
    '03-23',
    '03-24',
    '03-25',
    '03-26',
    '04-19',
    '05-17',
    '08-25',
    '10-11',
    '11-02',
  ],
};
const weekday = (date: string) => new Date(`${date}T00:00:00Z`).getUTCDay();
const isWeekend = (date: string) => [0, 6].includes(weekday(date));
const daysOf = (year: number) =>
  Array.from({ length: 366 }, (_, index) => addDays(`${year}-01-01`, index)).filter((day) =>
    day.startsWith(String(year)),
  );

describe('working days', () => {
  test.each(Object.keys(PRINTED).map(Number))('of %d are those of its printed calendar', (year) => {
    const free = (PRINTED[year] ?? []).map((day) => `${year}-${day}`);
    const wanted = daysOf(year).filter((day) => !isWeekend(day) && !free.includes(day));
    expect(daysOf(year).filter(isWorkingDay)).toEqual(wanted);
  });

  test('a movable holiday is never in the middle of a week', () => {
    for (let year = 2011; year <= 2050; year += 1) {
      const moved = holidaysOf(year).filter((day) =>
        /-(04-(1[6-9]|2[0-3])|05-1[5-9]|05-2[0-2]|10-(0[9]|1[0-6]))$/.test(day),
      );
      const easterWeek = holidaysOf(year)
        .filter((day) => day.slice(5) < '04-25')
        .slice(-5);
      for (const day of moved.filter((one) => !easterWeek.includes(one)))
        expect([0, 1, 6]).toContain(weekday(day));
    }
  });

  test('the next working day is one, later, and nothing between is', () => {
    const day = fc.integer({ min: 0, max: 14_000 }).map((days) => addDays('2012-01-01', days));
    fc.assert(
      fc.property(day, (date) => {
        const next = nextWorkingDay(date);
        expect(next > date && isWorkingDay(next)).toBe(true);
        for (let between = addDays(date, 1); between < next; between = addDays(between, 1))
          expect(isWorkingDay(between)).toBe(false);
      }),
    );
  });

  test.each([
    ['an ordinary day', '2026-11-24', '2026-11-25T21:00:00.000Z'],
    ['Friday, Saturday and Sunday: Monday', '2026-11-20', '2026-11-23T21:00:00.000Z'],
    ['Sunday', '2026-11-22', '2026-11-23T21:00:00.000Z'],
    ['the Friday before carnival: Wednesday', '2026-02-13', '2026-02-18T21:00:00.000Z'],
    ['the Friday before the Holy Week: ten days later', '2026-03-27', '2026-04-06T21:00:00.000Z'],
    ['the last day of a year', '2026-12-31', '2027-01-04T21:00:00.000Z'],
  ])('a report is due at 18 of the next one: %s', (_, date, due) => {
    expect(reportDueAt(date).toISOString()).toBe(due);
  });
});
