import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sendReport } from '../../../src/commands/reports/sendReport.ts';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { listSubmissions, startReporting } from '../../../src/db/reports/dailyReports.ts';
import { addDays, montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { FAILPOINTS } from '../../../src/failpoints.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { inherited, runToEnd } from '../../support/processes/processes.ts';
import type { DriveReport } from '../../support/reports/driveReport.ts';
import { aCustomer, aSimulator, type Customer, portal } from '../../support/simulator/world.ts';

/** Each killed there once; `after`: the crash that leads to where the point is passed. */
const POINTS = [
  { point: 'report.read' },
  { point: 'report.stored' },
  { point: 'report.sendingStored' },
  { point: 'report.answered' },
  { point: 'report.found', after: 'report.answered' },
  { point: 'report.answerStored' },
  { point: 'report.asked' },
] as const;
const SIGKILLED = 137;

let db: TestDatabase;
let simulator: Awaited<ReturnType<typeof aSimulator>>;
let customer: Customer;
let date: string;
let drive: (failpoint?: string) => Promise<{ code: number; stdout: string; stderr: string }>;
beforeAll(async () => {
  db = await cloneDatabase();
  simulator = await aSimulator();
  customer = await aCustomer(simulator.url);
  const { bytes } = await portal(simulator.url, 'GET', '/portal/authority-certificates');
  const authorityPems =
    bytes.toString().match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  const { rut, keys } = customer;
  await aReadyEnterprise(db.orm, await anAccount(db.orm), { values: { rut } });
  const certificate = Buffer.from(keys.certificate.raw);
  await db.orm.em.fork().nativeUpdate(Certificate, { rut }, { certificate });
  date = montevideoDate(new Date());
  await db.orm.em.fork().transactional((em) => startReporting(em, rut, addDays(date, -30)));
  drive = (failpoint) => {
    const given: DriveReport = {
      databaseUrl: db.databaseUrl,
      simulatorUrl: simulator.url,
      authorityPems,
      key: { rut, environment: 'production', date },
      privateKey: keys.privateKey,
      certificate: certificate.toString('base64'),
    };
    const env = inherited({
      DRIVE_REPORT: JSON.stringify(given),
      CFE_TEST_MODE: 'true',
      CFE_FAILPOINTS: failpoint ?? '',
    });
    return runToEnd(['test/support/reports/driveReport.ts'], { env });
  };
});
afterAll(async () => {
  await simulator.stop();
  await db[Symbol.asyncDispose]();
});

test('every point of a report has its crash', () => {
  const known = Object.keys(FAILPOINTS).filter((point) => point.startsWith('report.'));
  expect(POINTS.map(({ point }) => point).toSorted()).toEqual(known.toSorted());
});

test.each(POINTS.map((row) => [row.point, 'after' in row ? row.after : undefined] as const))(
  'killed at %s: the day is reported once, with sequence 1, and found to agree',
  async (point, after) => {
    date = addDays(date, -1);
    const { rut } = customer;
    const key = { rut, environment: 'production', date } as const;
    await sendReport(
      { orm: db.orm, clock: () => new Date(), outbox: idleOutbox },
      { ...key, reason: 'a test' },
    );
    for (const failpoint of after === undefined ? [point] : [after, point]) {
      expect(await drive(failpoint)).toMatchObject({ code: SIGKILLED, stderr: `failpoint ${failpoint}\n` });
    }
    simulator.hurry(10_000);
    expect(await drive()).toMatchObject({ code: 0, stdout: 'CONSISTENT\n' });

    const { bytes } = await portal(simulator.url, 'GET', `/portal/reports?rut=${rut}&date=${date}`);
    const { items } = JSON.parse(bytes.toString()) as { items: { sequence: number; status: string }[] };
    expect(items).toEqual([expect.objectContaining({ sequence: 1, status: 'DR' })]);
    const submissions = await listSubmissions(db.orm.em.fork(), key);
    expect(submissions.map(({ sequence, status }) => [sequence, status])).toEqual([[1, 'CONSISTENT']]);
  },
);
