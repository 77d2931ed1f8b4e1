import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { listUiValues, putUiValues } from '../../../src/db/receipts/rates.ts';
import { selectUiValue } from '../../../src/domain/receipts/uiValues.ts';
import { watchUiValues } from '../../../src/wiring/uiValueNotice.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';

describe('the UI value of a year', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await cloneDatabase();
    await db.orm.em
      .fork()
      .transactional((em) =>
        putUiValues(em, [{ year: 2024, value: '5.9000', source: 'a test', estimate: false }]),
      );
  });
  afterAll(() => db[Symbol.asyncDispose]());

  test.each([
    [2026, 2026, 'its own'],
    [2025, 2024, 'the last one before'],
    [2031, 2026, 'the last known'],
    [2019, 2024, 'the first one after, where none is before'],
  ])('of %i is that of %i: %s', async (year, from) => {
    expect(selectUiValue(await listUiValues(db.orm.em.fork()), year).year).toBe(from);
  });

  test.each([
    ['2026-12-01T02:59:59Z', ['2026']],
    ['2026-12-01T03:00:00Z', ['2026', '2027']],
  ])('warns at start and in the metrics, at %s of %j', async (at, years) => {
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const registry = new Registry();

    await watchUiValues({ orm: db.orm, registry, logger, clock: () => new Date(at) });

    const told = lines.map((line) => JSON.parse(line) as { year: number; why: string });
    expect(told.map(({ year, why }) => [String(year), why])).toEqual(
      years.map((year) => [year, year === '2026' ? 'estimate' : 'other year']),
    );
    const metrics = await registry.metrics();
    expect(metrics).toContain('cfe_ui_value_stand_in{year="2026",why="estimate"} 1');
    expect(metrics.includes('{year="2027",why="other_year"} 1')).toBe(years.includes('2027'));
  });
});
