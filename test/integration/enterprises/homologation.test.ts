import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createIssueTestReceipts } from '../../../src/activities/enterprises/issueTestReceipts.ts';
import { createReportTestRun } from '../../../src/activities/enterprises/reportTestRun.ts';
import { createStopTestRun } from '../../../src/activities/enterprises/stopTestRun.ts';
import {
  readApplicationFacts,
  requireLastTestRun,
  startTestRun,
  stopTestRun,
} from '../../../src/commands/enterprises/homologation.ts';
import { suspendEnterprise } from '../../../src/commands/enterprises/suspension.ts';
import {
  annulTestNumber,
  issueTestReceipt,
  requestTestReport,
} from '../../../src/commands/enterprises/testRunSteps.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { UNFINISHED } from '../../../src/db/operations/unfinished.ts';
import { applicationSheet } from '../../../src/domain/enterprises/application.ts';
import type { CfeStatus } from '../../../src/domain/receipts/cfeStatus.ts';
import { drawApplicationSheet } from '../../../src/print/applicationSheet.ts';
import { homologationView } from '../../../src/views/enterprises/homologation.ts';
import { anAccount, eventsOf, idleIssuing, idleOutbox, outboxOf } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aKeyPair } from '../../support/database/sealing.ts';
import { anEnterprise, giveCae, giveCertificate } from '../../support/enterprises/enterprises.ts';
import { originalsOf } from '../../support/receipts/references.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';

const NOW = new Date('2026-11-20T15:00:00Z');
const TOMORROW = new Date('2026-11-21T15:00:00Z');
const DAY = '2026-11-20';
const TWO = ['ETICKET', 'ETICKET_NC'] as const;
let db: TestDatabase;
let rut: string;
let accountId: string;
beforeAll(async () => {
  db = await cloneDatabase({ pool: 10, worker: true });
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  accountId = await anAccount(db.orm, { isDeveloper: true });
  rut = await anEnterprise(db.orm, accountId);
  await giveCertificate(db.orm, rut, { environment: 'sandbox' });
  for (const type of TWO) await giveCae(db.orm, rut, { type, environment: 'sandbox' });
});

const starting = {
  get orm() {
    return db.orm;
  },
  clock: () => NOW,
  outbox: idleOutbox,
  sealer: aKeyPair().sealer,
  testKit: null,
  certificateAuthorities: [],
};
const start = (more: Partial<Parameters<typeof startTestRun>[1]> = {}) =>
  startTestRun(starting, { rut, set: 'TESTING', types: TWO, each: 2, accountId, ...more });
const key = () => ({ rut, date: DAY });

/** The activities as the worker runs them, in its role. */
function activities({ now = NOW, crashAfter = Number.POSITIVE_INFINITY } = {}) {
  const deps = { orm: db.worker, clock: () => now, ...idleIssuing };
  let issued = 0;
  return {
    issue: createIssueTestReceipts({
      ...deps,
      issue: async (id, place) => {
        const isRunning = await issueTestReceipt(deps, id, place);
        issued += 1;
        // The receipt is committed, the attempt does not hear of it.
        if (issued > crashAfter) throw new Error('killed');
        return isRunning;
      },
      annul: (id, type) => annulTestNumber(deps, id, type),
    }),
    report: createReportTestRun({ ...deps, requestReport: (id) => requestTestReport(deps, id) }),
    stop: createStopTestRun(deps),
  };
}
const issue = (more?: Parameters<typeof activities>[0]) => asActivity(() => activities(more).issue(key()));
const report = () => asActivity(() => activities().report(key()));
const cfes = () => db.orm.em.fork().find(Cfe, { rut }, { orderBy: { type: 'asc', sequence: 'asc' } });
const settle = async (status: CfeStatus, where: object = {}) =>
  db.orm.em.fork().nativeUpdate(Cfe, { rut, settledAt: null, ...where }, { status, settledAt: NOW });
const view = async () => homologationView(await requireLastTestRun(db.orm.em.fork(), rut));

test('it issues the originals, waits for their verdicts, then notes to received ones, and asks for the report', async () => {
  const started = await start();
  expect(await outboxOf(db.orm, `homologation:${rut}:${DAY}`)).toMatchObject([
    { workflow: 'homologation', signal: 'lookAgain', input: { rut, date: DAY } },
  ]);
  expect(await issue()).toEqual({ kind: 'goesOn', wanted: 4, received: 0, rejected: 0, canIssue: false });
  expect(await issue()).toMatchObject({ kind: 'goesOn', canIssue: false });
  expect((await cfes()).map(({ type }) => type)).toEqual(['ETICKET', 'ETICKET']);

  await settle('ACCEPTED', { sequence: 1 });
  await settle('OBSERVED');
  expect(await issue()).toMatchObject({ kind: 'goesOn', received: 2, canIssue: false });
  const notes = (await cfes()).filter(({ type }) => type === 'ETICKET_NC');
  const originals = await Promise.all(notes.map(({ id }) => originalsOf(db.orm.em.fork(), id)));
  expect(new Set(originals.flat()).size).toBe(2);
  await settle('ACCEPTED');
  expect(await issue()).toEqual({ kind: 'reports', received: 4, rejected: 0 });
  expect(await issue()).toEqual({ kind: 'reports', received: 4, rejected: 0 });

  expect(await report()).toEqual({ kind: 'waits' });
  expect(await report()).toEqual({ kind: 'waits' });
  expect((await outboxOf(db.orm, `report-sandbox:${rut}:${DAY}`)).length).toBe(1);
  expect(await view()).toMatchObject({
    homologation_id: started.run.id,
    status: 'REPORTING',
    report: { status: 'OPEN', sequence: null },
  });
  expect(await eventsOf(db.orm, rut)).toMatchObject([
    {
      event: 'homologation.updated',
      data: {
        enterprise_rut: rut,
        homologation_id: started.run.id,
        changes: { status: { from: 'RUNNING', to: 'REPORTING' } },
      },
    },
  ]);
});

test('an attempt that is killed after a receipt: the repeat issues the others, and none twice', async () => {
  await start({ each: 5 });
  await expect(issue({ crashAfter: 2 })).rejects.toThrow('killed');
  expect(await cfes()).toHaveLength(3);
  // A second worker may run the same attempt at the same time.
  await Promise.all([issue(), issue()]);

  const numbers = (await cfes()).map(({ numero }) => numero);
  expect(numbers).toEqual([1, 2, 3, 4, 5]);
  const [row] = await db.orm.em
    .fork()
    .execute<{ n: number }[]>(
      'select count(distinct cfe_uuid)::int as n from homologation_item join homologation on id = homologation_id where rut = ?',
      [rut],
    );
  expect(row?.n).toBe(5);
});

test('stopped: nothing more is issued; the next run takes other numbers, under the same workflow', async () => {
  await start({ each: 3 });
  await expect(issue({ crashAfter: 0 })).rejects.toThrow('killed');
  const stopped = await stopTestRun(starting, { rut });
  expect(stopped.run.status).toBe('STOPPED');
  expect(await issue()).toEqual({ kind: 'ended', status: 'STOPPED' });
  expect(await cfes()).toHaveLength(1);

  const second = await start({ each: 3 });
  expect(second.run.id).not.toBe(stopped.run.id);
  expect(second.run.workflowId).toBe(stopped.run.workflowId);
  await issue();
  expect((await cfes()).map(({ numero }) => numero)).toEqual([1, 2, 3, 4]);
  expect(await UNFINISHED.homologation(db.orm.em.fork(), { rut })).toHaveLength(1);
  expect(await asActivity(() => activities().stop(key()))).toEqual({ kind: 'ended', status: 'STOPPED' });
  expect(await UNFINISHED.homologation(db.orm.em.fork(), { rut })).toEqual([]);
});

test('while one is active another start returns it', async () => {
  const [one, other] = await Promise.all([start(), start()]);
  expect(other.run.id).toBe(one.run.id);
  expect((await start({ set: 'SIMULATION', each: undefined })).run.id).toBe(one.run.id);
});

test('rejections are counted; with too few it fails, and a second run may follow', async () => {
  const first = await start();
  await issue();
  await settle('REJECTED', { sequence: 1 });
  await settle('ACCEPTED');
  // Both notes correct the one that was received.
  await issue();
  await settle('ACCEPTED');
  expect(await issue()).toEqual({ kind: 'ended', status: 'FAILED' });
  expect(await view()).toMatchObject({
    status: 'FAILED',
    types: [
      { cfe_type: 'ETICKET', wanted: 2, received: 1, rejected: 1, pending: 0 },
      { cfe_type: 'ETICKET_NC', wanted: 2, received: 2, rejected: 0, pending: 0 },
    ],
    failure: { code: 'homologation.too_few' },
  });
  const second = await start();
  expect(second.run.id).not.toBe(first.run.id);
  expect(await issue()).toMatchObject({ kind: 'goesOn', received: 0 });
});

test('after midnight nothing is issued: all must be of one signing day', async () => {
  await start();
  expect(await issue({ now: TOMORROW })).toEqual({ kind: 'ended', status: 'FAILED' });
  expect(await cfes()).toEqual([]);
  expect(await view()).toMatchObject({ failure: { code: 'homologation.day_over' } });
});

test('a refused receipt ends it with the codes of its faults', async () => {
  await start();
  await suspendEnterprise({ ...starting, actor: 'cli:ana' }, { rut, reason: 'unpaid' });
  expect(await issue()).toEqual({ kind: 'ended', status: 'FAILED' });
  expect((await view()).failure).toEqual({
    code: 'homologation.receipt_refused',
    message: 'A receipt did not get a number (enterprise.suspended).',
  });
});

test.each([
  ['an unknown RUT', { rut: '219999999999' }, 'NOT_FOUND'],
  ['notes alone', { types: ['ETICKET_NC'] as const }, 'INVALID_INPUT'],
  ['a number in a simulation', { set: 'SIMULATION' as const }, 'INVALID_INPUT'],
])('refused: %s', async (_, wish, code) => {
  await expect(start(wish)).rejects.toMatchObject({ code });
});

test('refused: an account without the sandbox, which an operator does not need', async () => {
  const other = await anAccount(db.orm);
  await expect(start({ accountId: other })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect((await start({ accountId: null })).run.accountId).toBe(accountId);
});

test('the sheet of the postulación is filled in from what is known, and is a PDF', async () => {
  const facts = await readApplicationFacts(db.orm.em.fork(), rut);
  const sheet = applicationSheet({
    ...facts,
    provider: { rut: '219999820013', product: 'CFEAPI1', version: '1.0.0' },
    publicUrl: 'https://cfe.example',
  });
  const values = Object.fromEntries(sheet.fields.map(({ field, value }) => [field, value]));
  expect(values).toMatchObject({
    registry: expect.stringContaining(rut),
    software: 'Externo, proveedor local',
    provider: '219999820013',
    types: '101, 102, 103, 111, 112, 113',
    test_date: null,
  });
  const pdf = await drawApplicationSheet(sheet, { legalName: 'Empresa SA', date: DAY });
  expect(Buffer.from(pdf.subarray(0, 5)).toString()).toBe('%PDF-');
});
