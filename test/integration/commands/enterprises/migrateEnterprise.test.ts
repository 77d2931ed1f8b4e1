import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrateEnterprise } from '../../../../src/commands/enterprises/migrateEnterprise.ts';
import { changeReportingObligation } from '../../../../src/commands/reports/changeReportingObligation.ts';
import { nextIdemisor } from '../../../../src/db/authority/sobres.ts';
import { Enterprise } from '../../../../src/db/entities/enterprises.ts';
import { findReport, startDueReports, startReporting } from '../../../../src/db/reports/dailyReports.ts';
import { anAccount, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { anEnterprise, aReadyEnterprise, giveCae } from '../../../support/enterprises/enterprises.ts';

const NOON = new Date('2026-11-28T15:00:00Z');
let db: TestDatabase;
beforeAll(async () => {
  db = await cloneDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

const fresh = async () => anEnterprise(db.orm, await anAccount(db.orm));
const deps = (now = NOON) => ({ orm: db.orm, clock: () => now, outbox: idleOutbox });
const migrate = (rut: string, from: string, idemisor?: number, now = NOON) =>
  migrateEnterprise(deps(now), { rut, from, idemisor, reason: 'from another provider' });
const take = (rut: string, day: string) =>
  db.orm.em.fork().transactional((em) => nextIdemisor(em, { rut, environment: 'production' }, day));
const run = (sql: string, values: unknown[]) => db.orm.em.fork().execute<{ n: number }[]>(sql, values);
/** Annuls a number on a day, as the trigger of a rejected receipt does. */
const annulOn = async (rut: string, day: string) => {
  const cae = await giveCae(db.orm, rut);
  await run(
    `insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at, cae_id)
     values (?, 'production', 'ETICKET', 'A', 1, 1, 'by_hand', ?, now(), ?)`,
    [rut, day, cae],
  );
};

test('start of reports and next sobre are set together, and what is left is listed', async () => {
  const rut = await aReadyEnterprise(db.orm, await anAccount(db.orm));
  const { reportsFrom, idemisor, todo } = await migrate(rut, '2026-12-01', 5_000_000_001);
  expect([reportsFrom, idemisor]).toEqual(['2026-12-01', 5_000_000_001n]);
  const done = Object.fromEntries(todo.map((step) => [step.code, step.done]));
  expect(done).toMatchObject({ certificate: true, caes: true, ready: true, other_system_stops: false });
  expect(todo.find(({ code }) => code === 'last_report')?.text).toContain('2026-11-30');
  expect(await take(rut, '2026-12-01')).toBe(5_000_000_001n);
});

test.each([
  ['the authority is still asked about', { number: 500 }, false],
  ['it finds fault with', { number: 500, findings: ['first_known' as const] }, false],
  ['it finds right', { number: 500, findings: [] }, true],
])('a CAE whose first number %s', async (_, start, done) => {
  const rut = await aReadyEnterprise(db.orm, await anAccount(db.orm), { caes: [{}, { serie: 'B', start }] });
  const { todo } = await migrate(rut, '2026-12-01');
  expect(todo.find(({ code }) => code === 'caes')).toMatchObject({ done });
});

test('without a number the next sobre has that of the first day; of one that lacks all, nothing is done', async () => {
  const rut = await fresh();
  const { idemisor, todo } = await migrate(rut, '2026-12-01');
  expect(idemisor).toBe(2612010001n);
  expect(todo.filter(({ done }) => done)).toEqual([]);
  expect(await take(rut, '2026-12-01')).toBe(idemisor);
});

test('no report is made of a day of the other system, though the enterprise was READY before', async () => {
  const rut = await fresh();
  await startReporting(db.orm.em.fork(), rut, '2026-11-20');
  await db.orm.em.fork().transactional((em) => startDueReports(em, rut, { today: '2026-11-28', now: NOON }));
  await migrate(rut, '2026-12-01');
  await startReporting(db.orm.em.fork(), rut, '2026-11-29');
  const later = new Date('2026-12-02T15:00:00Z');
  await db.orm.em.fork().transactional((em) => startDueReports(em, rut, { today: '2026-12-02', now: later }));
  const days = await db.orm.em
    .fork()
    .execute<{ date: string }[]>('select date::text as date from daily_report where rut = ?', [rut]);
  expect(days).toEqual([{ date: '2026-12-01' }]);
});

describe('the same again', () => {
  test('changes nothing, also after sobres and reports of the first day', async () => {
    const rut = await fresh();
    const first = await migrate(rut, '2026-12-01', 5_000_000_001);
    expect(await migrate(rut, '2026-12-01', 5_000_000_001)).toEqual(first);
    const later = new Date('2026-12-03T15:00:00Z');
    await run(
      `insert into sobre (id, workflow_id, rut, environment, state, idemisor, xml, created_at)
       values (gen_random_uuid(), ?, ?, 'production', 'PREPARED', ?, '<x/>', now())`,
      [rut, rut, String(await take(rut, '2026-12-01'))],
    );
    await db.orm.em
      .fork()
      .transactional((em) => startDueReports(em, rut, { today: '2026-12-03', now: later }));
    expect(await migrate(rut, '2026-12-01', 5_000_000_001, later)).toMatchObject({
      idemisor: 5_000_000_002n,
    });
    const key = { rut, environment: 'production', date: '2026-12-01' } as const;
    expect(await findReport(db.orm.em.fork(), key)).toMatchObject({ status: 'OPEN' });
    await expect(migrate(rut, '2026-12-01', 4_000_000_001, later)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  test('with another day moves the start, while nothing was issued here', async () => {
    const rut = await fresh();
    await migrate(rut, '2026-12-01');
    expect(await migrate(rut, '2026-12-15')).toMatchObject({ reportsFrom: '2026-12-15' });
    expect(await db.orm.em.fork().findOneOrFail(Enterprise, { rut })).toMatchObject({
      migratedOn: '2026-12-15',
    });
  });
});

describe('is refused, and changes nothing,', () => {
  const refused = async (rut: string, from: string, says: RegExp, idemisor?: number) => {
    await expect(migrate(rut, from, idemisor)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(says) as unknown,
    });
    expect(await db.orm.em.fork().findOneOrFail(Enterprise, { rut })).toMatchObject({ migratedOn: null });
  };

  test('where numbers were used here before that day', async () => {
    const rut = await fresh();
    await annulOn(rut, '2026-11-27');
    await refused(rut, '2026-12-01', /For 2026-11-27, before 2026-12-01, a receipt/);
    await migrate(rut, '2026-11-27');
  });

  test('where a report was sent here of a day before', async () => {
    const rut = await fresh();
    await startReporting(db.orm.em.fork(), rut, '2026-11-20');
    await db.orm.em
      .fork()
      .transactional((em) => startDueReports(em, rut, { today: '2026-11-28', now: NOON }));
    await run(`update daily_report set status = 'RECEIVED' where rut = ? and date = '2026-11-22'`, [rut]);
    await refused(rut, '2026-12-01', /For 2026-11-22, .* a daily report/);
  });

  test('but not for the days before it went away', async () => {
    const rut = await fresh();
    await annulOn(rut, '2026-11-01');
    await changeReportingObligation(deps(), { act: 'stop', rut, from: '2026-11-10', reason: 'leaves' });
    expect(await migrate(rut, '2026-12-01')).toMatchObject({ reportsFrom: '2026-12-01' });
  });

  test('where the day is long past: its reports were sent by the other system', async () => {
    await refused(await fresh(), '2025-12-01', /would be sent again: name 2026-10-28/);
  });

  test('where it is an issuer only later', async () => {
    const rut = await anEnterprise(db.orm, await anAccount(db.orm), { issuerSince: '2026-12-02' });
    await refused(rut, '2026-12-01', /is an issuer since 2026-12-02/);
  });

  test('with a number that was used', async () => {
    const rut = await fresh();
    const used = Number(await take(rut, '2026-11-28'));
    await refused(rut, '2026-12-01', /already have the number/, used);
  });

  test('for an unknown enterprise', async () => {
    await expect(migrate('219999830019', '2026-12-01')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
