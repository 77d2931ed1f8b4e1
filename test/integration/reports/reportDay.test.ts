import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAskReport } from '../../../src/activities/reports/askReport.ts';
import { createPrepareReport } from '../../../src/activities/reports/prepareReport.ts';
import { createStartReports } from '../../../src/activities/reports/startReports.ts';
import { createSubmitReport } from '../../../src/activities/reports/submitReport.ts';
import { createSupportReport } from '../../../src/activities/reports/supportReport.ts';
import { changeReportingObligation } from '../../../src/commands/reports/changeReportingObligation.ts';
import { sendReport } from '../../../src/commands/reports/sendReport.ts';
import { Enterprise } from '../../../src/db/entities/enterprises.ts';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import { DailyReport } from '../../../src/db/entities/reports.ts';
import { Webhook } from '../../../src/db/entities/webhooks.ts';
import { listAudit } from '../../../src/db/operations/audit.ts';
import { listSubmissions, type ReportKey, startReporting } from '../../../src/db/reports/dailyReports.ts';
import { writeReport } from '../../../src/dgi/xml/report.ts';
import type { RateAnswer, WantedRate } from '../../../src/domain/receipts/exchangeRate.ts';
import { addDays } from '../../../src/domain/values/montevideo.ts';
import { createReportSlots } from '../../../src/gate/reportSlots.ts';
import { anAccount, eventsOf, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { reportAuthority } from '../../support/reports/authority.ts';
import { aReceipt } from '../../support/reports/receipts.ts';
import { type StoredCfe, storeCfes } from '../../support/reports/stored.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';

/** A Tuesday; Wednesday is a working day. */
const DATE = '2026-03-10';
const NIGHT = '2026-03-11T02:00:00-03:00';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });

let db: TestDatabase;
let accountId: string;
let rut: string;
let now: Date;
let authority: ReturnType<typeof reportAuthority>;
let rates: (wanted: WantedRate) => RateAnswer;
let hasKey: boolean;
let key: ReportKey;
const clock = () => now;
beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  accountId = await anAccount(db.orm);
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  rut = await aReadyEnterprise(db.orm, accountId);
  now = new Date(NIGHT);
  authority = reportAuthority();
  rates = ({ currency, date }) => ({ kind: 'known', currency, date, rate: '40', source: 'test' });
  hasKey = true;
  key = { rut, environment: 'production', date: DATE };
});

function activities() {
  const deps = {
    orm: db.worker,
    clock,
    outbox: idleOutbox,
    client: authority.client,
    privateKeyOf: () => privateKey,
    patienceSeconds: 3_600,
    latest: '16:00',
  };
  return {
    start: createStartReports({ orm: db.worker, clock, outbox: idleOutbox, sendsPerSecond: 50 }),
    prepare: createPrepareReport({
      ...deps,
      askAfterSeconds: 14_400,
      lookUpRates: async (wanted) => wanted.map(rates),
      signReport: (heading, summary) => {
        if (!hasKey) throw new Error('no key');
        return writeReport(heading, summary);
      },
    }),
    submit: createSubmitReport({
      ...deps,
      slots: createReportSlots({ orm: db.worker, sendsPerSecond: 1_000, clock: () => new Date() }),
    }),
    ask: createAskReport(deps),
    support: createSupportReport(deps),
  };
}
/** An attempt of an activity: its result, or the type of its failure. */
const attempt = async <T>(work: () => Promise<T>): Promise<T | string> => {
  try {
    return await asActivity(work);
  } catch (error) {
    const { type } = error as { type?: string };
    if (type === undefined) throw error;
    return type;
  }
};
const prepare = () => attempt(() => activities().prepare(key));
const submit = () => attempt(() => activities().submit(key));
const ask = () => attempt(() => activities().ask(key));
const support = (action: 'retry' | 'settle' | 'abandon', requestId = `${rut}:${Math.random()}`) =>
  attempt(() => activities().support({ report: key, requestId, action }));
const start = () => attempt(() => activities().start(''));

/** A row for the day, begun. */
async function begun(): Promise<void> {
  await db.orm.em.fork().transactional((em) => startReporting(em, rut, DATE));
  await start();
}
const row = (date = DATE) =>
  db.orm.em.fork().findOneOrFail(DailyReport, { rut, environment: 'production', date });
const sent = async () =>
  (await listSubmissions(db.orm.em.fork(), key)).map(({ sequence, status }) => `${sequence} ${status}`);
const store = (...cfes: StoredCfe[]) =>
  storeCfes(db.orm, { accountId, rut, settledAt: new Date(`${DATE}T20:00:00-03:00`) }, cfes);
const ticket = (numero: number, totals: Parameters<typeof aReceipt>[2] = {}) => ({
  ...aReceipt('ETICKET', numero, { exempt: '10.00', total: '10.00', pay: '10.00', ...totals }),
  signedAt: `${DATE}T12:00:00-03:00`,
});
/** The CFE of that number gets its verdict. */
const decide = (numero: number, status: 'ACCEPTED' | 'REJECTED', codes: string[] = []) =>
  db.orm.em
    .fork()
    .execute('update cfe set status = ?, rejection = ?::jsonb, settled_at = ? where rut = ? and numero = ?', [
      status,
      codes.length ? JSON.stringify(codes.map((code) => ({ code, message: code, detail: null }))) : null,
      now.toISOString(),
      rut,
      numero,
    ]);
const annulledIn = (xml: string | undefined) => /<CantDocsAnulados>(\d+)</.exec(xml ?? '')?.[1];

describe('a day', () => {
  test('whose CFEs have their verdicts is sent once it is over, and ends CONSISTENT', async () => {
    await store(
      { document: ticket(1), status: 'ACCEPTED' },
      { document: ticket(2), status: 'REJECTED', codes: ['E05'] },
    );
    await begun();
    expect(await prepare()).toEqual({ kind: 'ready' });
    expect(await submit()).toEqual({ kind: 'answered', status: 'RECEIVED' });
    expect(await prepare()).toEqual({
      kind: 'ask',
      status: 'RECEIVED',
      isComplete: true,
      askAfterMilliseconds: 14_400_000,
    });
    expect(await ask()).toEqual({ kind: 'asked', status: 'RECEIVED' });
    authority.compare('DR');
    expect(await ask()).toEqual({ kind: 'asked', status: 'CONSISTENT' });
    expect(await prepare()).toEqual({ kind: 'ended', status: 'CONSISTENT' });
    expect(authority.diary).toEqual(['send 1', 'find', 'find']);
    const [{ xml } = { xml: '' }] = authority.held;
    expect([annulledIn(xml), /<CantComprobantes>(\d+)</.exec(xml)?.[1]]).toEqual(['1', '2']);
  });

  test('without movement is reported too', async () => {
    await begun();
    expect(await prepare()).toEqual({ kind: 'ready' });
    expect(await submit()).toEqual({ kind: 'answered', status: 'RECEIVED' });
    expect(authority.held[0]?.xml).toContain('<CantComprobantes>0</CantComprobantes>');
  });

  test('with a CFE without a verdict waits for it, at the latest until CFE_REPORT_LATEST, and corrects itself', async () => {
    await store({ document: ticket(1), status: 'ACCEPTED' }, { document: ticket(2), status: 'RECEIVED' });
    await begun();
    expect(await prepare()).toMatchObject({ kind: 'waits', status: 'OPEN' });
    now = new Date('2026-03-11T15:59:00-03:00');
    expect(await prepare()).toMatchObject({ kind: 'waits', mostMilliseconds: 60_000 });
    now = new Date('2026-03-11T16:00:00-03:00');
    expect(await prepare()).toEqual({ kind: 'ready' });
    expect(await submit()).toEqual({ kind: 'answered', status: 'RECEIVED' });
    expect(await prepare()).toMatchObject({ kind: 'ask', isComplete: false });
    // The authority finds what was left out: no person is needed for that.
    authority.compare('ER');
    expect(await ask()).toEqual({ kind: 'asked', status: 'DIFFERS' });

    await decide(2, 'REJECTED', ['E05']);
    expect(await prepare()).toEqual({ kind: 'ready' });
    expect(await submit()).toEqual({ kind: 'answered', status: 'RECEIVED' });
    authority.compare('DR');
    expect(await ask()).toEqual({ kind: 'asked', status: 'CONSISTENT' });
    expect(await prepare()).toEqual({ kind: 'ended', status: 'CONSISTENT' });
    expect(await sent()).toEqual(['1 SUPERSEDED', '2 CONSISTENT']);
    expect(authority.held.map(({ xml }) => annulledIn(xml))).toEqual(['0', '1']);
  });

  test('whose verdicts come one by one is corrected every ten minutes at most, and at once with the last', async () => {
    await store(...[1, 2, 3, 4].map((numero) => ({ document: ticket(numero), status: 'RECEIVED' as const })));
    await begun();
    now = new Date('2026-03-11T16:00:00-03:00');
    await prepare();
    await submit();
    await decide(1, 'ACCEPTED');
    now = new Date('2026-03-11T16:09:00-03:00');
    expect(await prepare()).toMatchObject({ kind: 'waits', status: 'RECEIVED' });
    await decide(2, 'ACCEPTED');
    now = new Date('2026-03-11T16:10:00-03:00');
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    await decide(3, 'ACCEPTED');
    expect(await prepare()).toMatchObject({ kind: 'waits' });
    await decide(4, 'ACCEPTED');
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    expect(authority.held.map(({ xml }) => /<CantComprobantes>(\d+)</.exec(xml)?.[1])).toEqual([
      '0',
      '2',
      '4',
    ]);
  });

  test('that fits no report is left to support, who are told what does not fit', async () => {
    const exempt = '999999999999999.99';
    await store(
      { document: ticket(1, { exempt }), status: 'ACCEPTED' },
      { document: ticket(2, { exempt }), status: 'ACCEPTED' },
    );
    await begun();
    expect(await prepare()).toEqual({
      kind: 'stuck',
      reason: 'report.content',
      explanation: expect.stringMatching(/e-Ticket \(101\), emitted on 2026-03-10 .* more than 15 digits/),
    });
    expect(await sent()).toEqual([]);
  });

  test('with a number that is stored as issued and as annulled is left to support', async () => {
    await store({ document: ticket(1), status: 'ACCEPTED' });
    await db.orm.em.fork().execute(
      `insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at,
         cae_id)
       select rut, environment, type, serie, numero, numero, 'by_hand', ?, now(), cae_id from cfe where rut = ?`,
      [DATE, rut],
    );
    await begun();
    expect(await prepare()).toEqual({
      kind: 'stuck',
      reason: 'report.content',
      explanation: expect.stringContaining('e-Ticket (101), serie A, number 1 counts twice'),
    });
    expect(await sent()).toEqual([]);
  });

  test('with a number refused for E06 is corrected once that is decided', async () => {
    await store({ document: ticket(1), status: 'REJECTED', codes: ['E06'] });
    await begun();
    now = new Date('2026-03-11T16:00:00-03:00');
    await prepare();
    await submit();
    authority.compare('DR');
    await ask();
    expect(await prepare()).toMatchObject({ kind: 'waits', status: 'CONSISTENT' });
    now = new Date('2026-04-20T12:00:00-03:00');
    await decide(1, 'ACCEPTED');
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    expect(await sent()).toEqual(['1 SUPERSEDED', '2 RECEIVED']);
  });

  test('that got an annulment after it was found CONSISTENT is woken by the schedule', async () => {
    await begun();
    await prepare();
    await submit();
    authority.compare('DR');
    await ask();
    expect(await prepare()).toEqual({ kind: 'ended', status: 'CONSISTENT' });
    now = new Date('2026-03-12T02:00:00-03:00');
    const em = db.orm.em.fork();
    await em.execute(
      `insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at, cae_id)
       select rut, environment, type, 'A', 900, 905, 'by_hand', ?, ?, id from cae where rut = ? and type = 'ETICKET'`,
      [DATE, new Date('2026-03-11T09:00:00-03:00').toISOString(), rut],
    );
    await start();
    const messages = await em.find(OutboxMessage, { workflowId: `report:${rut}:${DATE}` });
    expect(messages.map(({ signal }) => signal)).toEqual([null, 'lookAgain']);
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    expect(await sent()).toEqual(['1 SUPERSEDED', '2 RECEIVED']);
  });

  test('waits for a rate that the central bank does not give, goes with the last known one, and is corrected', async () => {
    const usd = { currency: 'USD' as const, exchangeRate: '39.000' };
    await store({ document: ticket(1, usd), status: 'ACCEPTED' });
    await begun();
    const lastKnown = { currency: 'USD', date: '2026-03-06', rate: '41', source: 'test' };
    rates = () => ({ kind: 'awaited', why: 'unreachable', lastKnown });
    expect(await prepare()).toMatchObject({ kind: 'waits', what: expect.stringContaining('rates (1)') });
    now = new Date('2026-03-11T16:00:00-03:00');
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    rates = ({ currency, date }) => ({ kind: 'known', currency, date, rate: '42', source: 'test' });
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    const totals = authority.held.map(({ xml }) => /<TotMntTotal>([^<]*)</.exec(xml)?.[1]);
    expect(totals).toEqual(['410.00', '420.00']);
    expect(await prepare()).toMatchObject({ kind: 'ask', isComplete: true });
  });
});

describe('sending', () => {
  beforeEach(async () => {
    await store({ document: ticket(1), status: 'ACCEPTED' });
    await begun();
    await prepare();
  });

  test('a lost answer: the authority is asked, and nothing goes out twice', async () => {
    authority.fates.push('lost');
    expect(await submit()).toBe('AuthorityUnreachable');
    expect((await row()).status).toBe('SENT');
    expect(await prepare()).toEqual({ kind: 'ready' });
    expect(await submit()).toEqual({ kind: 'answered', status: 'RECEIVED' });
    expect(authority.diary).toEqual(['send 1', 'find']);
    expect(authority.held).toHaveLength(1);
  });

  test('a send that never arrived: asked about, then the same bytes', async () => {
    authority.fates.push('dropped');
    expect(await submit()).toBe('AuthorityUnreachable');
    expect(await submit()).toEqual({ kind: 'answered', status: 'RECEIVED' });
    expect(authority.diary).toEqual(['send 1', 'find', 'send 1']);
    expect(await sent()).toEqual(['1 RECEIVED']);
  });

  test('an authority that is away makes nobody stuck', async () => {
    authority.fates.push('away');
    expect(await submit()).toBe('AuthorityUnreachable');
    expect((await row()).stuckReason).toBeNull();
  });

  test.each([
    ['R01', 'report.format'],
    ['R03', 'report.signature'],
    ['R04', 'report.content'],
  ] as const)('%s is left to a person, and goes again with the same sequence', async (fate, reason) => {
    authority.fates.push(fate);
    expect(await submit()).toMatchObject({ kind: 'stuck', reason });
    expect(await row()).toMatchObject({ status: 'REFUSED', stuckReason: reason, sequence: 1 });
    expect(await support('retry')).toMatchObject({ kind: 'retried' });
    expect(await prepare()).toEqual({ kind: 'ready' });
    expect(await submit()).toEqual({ kind: 'answered', status: 'RECEIVED' });
    expect(await sent()).toEqual(['1 REFUSED', '1 RECEIVED']);
    const ids = (await listSubmissions(db.orm.em.fork(), key)).map(({ idEmisor }) => idEmisor);
    expect(new Set(ids).size).toBe(2);
  });

  test('R06: the authority’s clock is behind; it goes again by itself', async () => {
    authority.fates.push('R06');
    expect(await submit()).toEqual({ kind: 'again', milliseconds: 600_000 });
    expect((await row()).stuckReason).toBeNull();
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    expect(await sent()).toEqual(['1 REFUSED', '1 RECEIVED']);
  });

  test('another system has reported: its report is not overwritten', async () => {
    authority.otherSystem(DATE, 1);
    expect(await submit()).toMatchObject({ kind: 'stuck', reason: 'report.other_system' });
    expect(await row()).toMatchObject({ status: 'REFUSED', stuckReason: 'report.other_system' });
    expect(await support('settle')).toMatchObject({ kind: 'settled' });
    expect(await prepare()).toEqual({ kind: 'ended', status: 'SUPERSEDED' });
    expect(authority.held.filter(({ state }) => state !== 'BR')).toHaveLength(1);
  });

  test('after R05 the authority’s sequence is adopted where all it has is ours', async () => {
    await submit();
    // Our row of the first submission forgets that it was taken, as after a partial restore.
    await db.orm.em
      .fork()
      .execute(`update report_submission set status = 'REFUSED', answered_at = null where rut = ?`, [rut]);
    await db.orm.em.fork().nativeUpdate(DailyReport, { rut }, { isComplete: false, status: 'REFUSED' });
    expect(await prepare()).toEqual({ kind: 'ready' });
    expect(await submit()).toEqual({ kind: 'again', milliseconds: 0 });
    expect(await prepare()).toEqual({ kind: 'ready' });
    expect(await submit()).toEqual({ kind: 'answered', status: 'RECEIVED' });
    expect(authority.held.filter(({ state }) => state === 'AR').map(({ sequence }) => sequence)).toEqual([2]);
  });

  test('two attempts at once send once', async () => {
    const results = await Promise.all([submit(), submit()]);
    expect(results).toContainEqual({ kind: 'answered', status: 'RECEIVED' });
    expect(authority.held.filter(({ state }) => state === 'AR')).toHaveLength(1);
    expect(authority.diary.filter((line) => line.startsWith('send'))).toHaveLength(1);
  });

  test('two looks at once prepare one submission', async () => {
    await submit();
    await store({ document: ticket(2), status: 'ACCEPTED' });
    await db.orm.em.fork().nativeUpdate(DailyReport, { rut }, { isComplete: false });
    await Promise.all([prepare(), prepare(), prepare()]);
    expect(await sent()).toEqual(['1 RECEIVED', '2 PREPARED']);
  });

  test('a report that differs, of whose day nothing is to come, is left to a person, who may let it stand', async () => {
    await submit();
    authority.compare('ER');
    expect(await ask()).toMatchObject({ kind: 'stuck', reason: 'report.differs' });
    expect(await support('abandon')).toMatchObject({ kind: 'refused' });
    expect(await support('settle')).toMatchObject({ kind: 'settled' });
    expect(await prepare()).toEqual({ kind: 'ended', status: 'DIFFERS' });
  });

  test('support’s act is done and audited once, however often it is repeated', async () => {
    authority.fates.push('R04');
    await submit();
    const first = await support('retry', `${rut}:1`);
    const again = await support('retry', `${rut}:1`);
    expect([first, again]).toMatchObject([{ kind: 'retried' }, { kind: 'retried' }]);
    const rows = await db.orm.em.fork().execute('select action from audit where rut = ?', [rut]);
    expect(rows).toEqual([{ action: 'report.retry' }]);
  });

  test('what was settled is not sent again until something else of the day changes', async () => {
    await submit();
    now = new Date('2026-03-11T11:00:00-03:00');
    await store({ document: ticket(2), status: 'RECEIVED' }, { document: ticket(3), status: 'ACCEPTED' });
    await db.orm.em.fork().nativeUpdate(DailyReport, { rut }, { isComplete: false });
    await prepare();
    authority.fates.push('R04');
    expect(await submit()).toMatchObject({ kind: 'stuck', reason: 'report.content' });
    now = new Date('2026-03-11T12:00:00-03:00');
    expect(await support('settle')).toMatchObject({ kind: 'settled' });
    authority.compare('DR');
    expect(await prepare()).toMatchObject({ kind: 'ask', status: 'RECEIVED' });
    expect(await ask()).toEqual({ kind: 'asked', status: 'CONSISTENT' });
    expect(await prepare()).toEqual({ kind: 'ended', status: 'CONSISTENT' });

    // Woken for nothing, it stays as it is.
    await db.orm.em.fork().nativeUpdate(DailyReport, { rut }, { isComplete: false });
    expect(await prepare()).toMatchObject({ kind: 'waits', status: 'CONSISTENT' });
    await db.orm.em.fork().nativeUpdate(DailyReport, { rut }, { isComplete: true });

    // The verdict that was awaited then comes later still.
    now = new Date('2026-03-12T12:00:00-03:00');
    await decide(2, 'ACCEPTED');
    now = new Date('2026-03-13T02:00:00-03:00');
    await start();
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    expect(await sent()).toEqual(['1 SUPERSEDED', '2 REFUSED', '2 RECEIVED']);
  });

  test('an annulment that was known when a day was settled does not wake it', async () => {
    await submit();
    await db.orm.em.fork().execute(
      `insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at, cae_id)
       select rut, environment, type, 'A', 900, 905, 'by_hand', ?, ?, id from cae where rut = ? and type = 'ETICKET'`,
      [DATE, new Date('2026-03-11T09:00:00-03:00').toISOString(), rut],
    );
    await db.orm.em.fork().execute('update report_submission set sequence = 99 where rut = ?', [rut]);
    await db.orm.em.fork().nativeUpdate(DailyReport, { rut }, { isComplete: false });
    expect(await prepare()).toMatchObject({ kind: 'stuck', reason: 'report.last_sequence' });
    authority.compare('DR');
    now = new Date('2026-03-11T10:00:00-03:00');
    expect(await support('settle')).toMatchObject({ kind: 'settled' });
    now = new Date('2026-03-12T02:00:00-03:00');
    await start();
    expect(await prepare()).toEqual({ kind: 'ended', status: 'CONSISTENT' });
  });

  test('a list that knows less than we do is no other sequence: nothing is sent in a circle', async () => {
    await submit();
    await store({ document: ticket(2), status: 'ACCEPTED' });
    await db.orm.em.fork().nativeUpdate(DailyReport, { rut }, { isComplete: false });
    await prepare();
    await submit();
    await store({ document: ticket(3), status: 'ACCEPTED' });
    await db.orm.em.fork().nativeUpdate(DailyReport, { rut }, { isComplete: false });
    await prepare();
    authority.held.splice(1, 1);
    authority.fates.push('R05');
    expect(await submit()).toBe('NotYet');
    now = new Date(now.getTime() + 3_601_000);
    authority.fates.push('R05');
    expect(await submit()).toMatchObject({ kind: 'stuck', reason: 'report.other_system' });
    expect(await sent()).toEqual(['1 SUPERSEDED', '2 RECEIVED', '3 REFUSED']);
  });

  test('the last sequence is the end', async () => {
    await submit();
    await db.orm.em.fork().execute('update report_submission set sequence = 99 where rut = ?', [rut]);
    await store({ document: ticket(2), status: 'ACCEPTED' });
    await db.orm.em.fork().nativeUpdate(DailyReport, { rut }, { isComplete: false });
    expect(await prepare()).toMatchObject({ kind: 'stuck', reason: 'report.last_sequence' });
  });
});

describe('the schedule', () => {
  const days = async () => {
    const rows = await db.orm.em.fork().find(DailyReport, { rut }, { orderBy: { date: 'asc' } });
    return rows.map(({ date, startedAt }) => `${date}${startedAt ? ' begun' : ''}`);
  };

  test('a month’s catch-up goes in order: a day begins once the one before was sent', async () => {
    await db.orm.em.fork().transactional((em) => startReporting(em, rut, '2026-02-11'));
    await start();
    await start();
    const all = await days();
    expect([all.length, all[0], all[1], all.at(-1)]).toEqual([
      28,
      '2026-02-11 begun',
      '2026-02-12',
      '2026-03-10',
    ]);
    const order: string[] = [];
    for (let date = '2026-02-11'; date <= DATE; date = addDays(date, 1)) {
      key = { ...key, date };
      expect((await row(date)).startedAt).not.toBeNull();
      if (date < DATE) expect((await row(addDays(date, 1))).startedAt).toBeNull();
      await prepare();
      await submit();
      order.push(date);
    }
    expect(authority.held.map(({ date }) => date)).toEqual(order);
    const starts = await db.orm.em
      .fork()
      .find(OutboxMessage, { workflow: 'reportDay' }, { orderBy: { id: 'asc' } });
    expect(starts.filter(({ workflowId }) => workflowId.includes(rut))).toHaveLength(28);
  });

  test('a day that waits for a person does not hold up the next', async () => {
    await db.orm.em.fork().transactional((em) => startReporting(em, rut, '2026-03-09'));
    await start();
    key = { ...key, date: '2026-03-09' };
    authority.fates.push('R04');
    await prepare();
    await submit();
    expect(await days()).toEqual(['2026-03-09 begun', '2026-03-10 begun']);
  });

  test('several runs at once store and start each day once', async () => {
    await db.orm.em.fork().transactional((em) => startReporting(em, rut, '2026-03-08'));
    await Promise.all([start(), start(), start(), start()]);
    expect(await days()).toEqual(['2026-03-08 begun', '2026-03-09', '2026-03-10']);
    expect(await db.orm.em.fork().count(OutboxMessage, { workflowId: { $like: `report:${rut}:%` } })).toBe(1);
  });

  test('a day that another system is to report ends unsent; one that was sent stays', async () => {
    await db.orm.em.fork().transactional((em) => startReporting(em, rut, '2026-03-09'));
    await store({ document: ticket(1), status: 'RECEIVED' });
    await start();
    key = { ...key, date: '2026-03-09' };
    await prepare();
    await submit();
    key = { ...key, date: DATE };
    expect(await prepare()).toMatchObject({ kind: 'waits' });
    const deps = { orm: db.orm, clock, outbox: idleOutbox, actor: 'cli:ana' } as const;
    await changeReportingObligation(deps, { act: 'stop', rut, from: '2026-03-09', reason: 'another system' });
    expect(await days()).toEqual(['2026-03-09 begun']);
    expect(await prepare()).toEqual({ kind: 'ended', status: 'OPEN' });
    await start();
    expect(authority.diary).toEqual(['send 1']);
  });

  test('issuer_since, start and stop say which days are ours', async () => {
    const deps = { orm: db.orm, clock, outbox: idleOutbox, actor: 'cli:ana' } as const;
    await db.orm.em.fork().execute(`update enterprise set issuer_since = '2026-03-05' where rut = ?`, [rut]);
    await db.orm.em.fork().transactional((em) => startReporting(em, rut, '2026-03-01'));
    await changeReportingObligation(deps, { act: 'stop', rut, from: '2026-03-07', reason: 'another system' });
    await start();
    expect((await days()).map((day) => day.slice(0, 10))).toEqual(['2026-03-05', '2026-03-06']);
    await changeReportingObligation(deps, { act: 'start', rut, from: '2026-03-10', reason: 'back' });
    await start();
    expect((await days()).map((day) => day.slice(0, 10))).toEqual(['2026-03-05', '2026-03-06', '2026-03-10']);
  });
});

describe('obligations that meet', () => {
  const deps = () => ({ orm: db.orm, clock, outbox: idleOutbox, actor: 'cli:ana' as const });
  const dates = async () =>
    (await db.orm.em.fork().find(DailyReport, { rut }, { orderBy: { date: 'asc' } })).map(({ date }) => date);

  test('a later first day takes back the days before it that were not sent', async () => {
    await db.orm.em.fork().transactional((em) => startReporting(em, rut, '2026-03-08'));
    await start();
    await prepareAndSubmit('2026-03-08');
    await changeReportingObligation(deps(), {
      act: 'start',
      rut,
      from: '2026-03-20',
      reason: 'another system until then',
    });
    await start();
    expect(await dates()).toEqual(['2026-03-08']);
  });

  test('a start after a stop keeps the days until the stop', async () => {
    await db.orm.em.fork().transactional((em) => startReporting(em, rut, '2026-03-08'));
    await start();
    await changeReportingObligation(deps(), {
      act: 'stop',
      rut,
      from: '2026-03-13',
      reason: 'another system',
    });
    const later = { act: 'start', rut, from: '2026-03-20', reason: 'back' } as const;
    await expect(changeReportingObligation(deps(), later)).rejects.toThrow('until 2026-03-13');
    now = new Date('2026-03-14T02:00:00-03:00');
    await start();
    await changeReportingObligation(deps(), later);
    const expected = ['2026-03-08', '2026-03-09', '2026-03-10', '2026-03-11', '2026-03-12'];
    expect(await dates()).toEqual(expected);
  });

  const prepareAndSubmit = async (date: string) => {
    key = { ...key, date };
    await prepare();
    await submit();
  };
});

describe('by hand', () => {
  const deps = () => ({ orm: db.orm, clock, outbox: idleOutbox, actor: 'cli:ana' as const });
  const reportsFrom = (date: string) => db.orm.em.fork().transactional((em) => startReporting(em, rut, date));
  const stopsFrom = (from: string) =>
    changeReportingObligation(deps(), { act: 'stop', rut, from, reason: 'another system reports' });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['never READY', async () => undefined, /never been READY/],
    ['before it was READY', () => reportsFrom('2026-03-11'), /from 2026-03-11 on/],
    [
      'before it joined the regime',
      async () => {
        await reportsFrom('2026-03-01');
        await db.orm.em.fork().nativeUpdate(Enterprise, { rut }, { issuerSince: '2026-03-11' });
      },
      /from 2026-03-11 on/,
    ],
    [
      'after report stop',
      async () => {
        await reportsFrom('2026-03-01');
        await stopsFrom(DATE);
      },
      /from 2026-03-01 until 2026-03-10, that day not included/,
    ],
  ])(
    'a day on which it has no reporting obligation here (%s) is refused; nothing is begun',
    async (_, prepared, words) => {
      await prepared();

      await expect(sendReport(deps(), { ...key, reason: 'T' })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        faults: [{ code: 'report.no_obligation', message: expect.stringMatching(words) }],
      });

      expect(await db.orm.em.fork().count(DailyReport, { rut })).toBe(0);
      const rows = await listAudit(db.orm.em.fork(), { rut }, 10);
      expect(rows.filter(({ action }) => action.startsWith('report.send'))).toEqual([]);
    },
  );

  test('an operator who must may send it over the report of the system with the obligation, and says why', async () => {
    await reportsFrom('2026-03-01');
    await stopsFrom(DATE);
    const reasons = { reason: 'asked for', overrideOtherSystem: 'their system is gone; agreed with them' };

    await sendReport(deps(), { ...key, ...reasons });

    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    expect(authority.held).toHaveLength(1);
    const rows = await listAudit(db.orm.em.fork(), { rut }, 10);
    expect(rows.map(({ action, reason, actor }) => [action, reason, actor]).slice(-2)).toEqual([
      ['report.override_other_system', 'their system is gone; agreed with them', 'cli:ana'],
      ['report.send', 'asked for', 'cli:ana'],
    ]);
  });

  test('the first and the last day of the obligation are sent without a second reason', async () => {
    await reportsFrom(DATE);
    await stopsFrom('2026-03-11');
    await sendReport(deps(), { ...key, reason: 'T' });
    expect(await prepare()).toEqual({ kind: 'ready' });
  });

  test('a day that we have reported is sent again after a stop and another start', async () => {
    await reportsFrom(DATE);
    await sendReport(deps(), { ...key, reason: 'T' });
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    await stopsFrom('2026-03-11');
    await db.orm.em
      .fork()
      .execute(
        `update reporting_obligation set from_date = '2026-03-20', next_date = '2026-03-20', until_date = null where rut = ?`,
        [rut],
      );

    await expect(sendReport(deps(), { ...key, reason: 'again' })).resolves.toBeDefined();
  });

  test('today’s report goes with what is known, and what comes later corrects it', async () => {
    now = new Date(`${DATE}T18:00:00-03:00`);
    await reportsFrom(DATE);
    await store({ document: ticket(1), status: 'ACCEPTED' }, { document: ticket(2), status: 'RECEIVED' });
    await sendReport(deps(), { ...key, reason: 'asked for' });
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    expect(await prepare()).toMatchObject({ kind: 'ask', isComplete: false });
    await decide(2, 'ACCEPTED');
    await store({ document: ticket(3), status: 'ACCEPTED' });
    // Not with every receipt of the day: the sequences would not last.
    expect(await prepare()).toMatchObject({ kind: 'waits', mostMilliseconds: 21_600_000 });
    now = new Date(NIGHT);
    expect(await prepare()).toEqual({ kind: 'ready' });
    await submit();
    expect(await prepare()).toMatchObject({ kind: 'ask', isComplete: true });
    expect(authority.held.map(({ xml }) => /<CantComprobantes>(\d+)</.exec(xml)?.[1])).toEqual(['1', '3']);
  });

  test('a day to come is refused, as is one that waits for a person', async () => {
    await expect(sendReport(deps(), { ...key, date: '2026-03-12', reason: 'T' })).rejects.toThrow(
      'in the future',
    );
    await begun();
    authority.fates.push('R04');
    await prepare();
    await submit();
    await expect(sendReport(deps(), { ...key, reason: 'T' })).rejects.toThrow('report retry');
  });

  test('sandbox has a workflow of its own and tells no webhook', async () => {
    const sandbox = await sendReport(deps(), { ...key, environment: 'sandbox', reason: 'T' });
    expect(sandbox.workflowId).toBe(`report-sandbox:${rut}:${DATE}`);
  });
});

test('webhooks that select it hear of every move', async () => {
  await db.orm.em.fork().insert(Webhook, {
    id: crypto.randomUUID(),
    accountId,
    url: 'https://example.com/hook',
    events: ['daily_report.updated'],
    sealedSecret: 'sealed',
    sealedPreviousSecret: null,
    previousSecretUntil: null,
    enabled: true,
    disabledReason: null,
    createdAt: now,
    removedAt: null,
  } as never);
  await begun();
  await prepare();
  await submit();
  const told = (await eventsOf(db.orm, rut)).filter(({ event }) => event === 'daily_report.updated');
  // Of one moment of the test's clock: their order is chance.
  const byStatus = (one: { data: object }): number =>
    Number('status' in one.data && one.data.status !== 'SENT');
  expect(told.toSorted((a, b) => byStatus(a) - byStatus(b)).map(({ data }) => data)).toEqual([
    {
      enterprise_rut: rut,
      date: DATE,
      status: 'SENT',
      sequence: 1,
      changes: { status: { from: 'OPEN', to: 'SENT' }, sequence: { from: null, to: 1 } },
    },
    {
      enterprise_rut: rut,
      date: DATE,
      status: 'RECEIVED',
      sequence: 1,
      changes: { status: { from: 'SENT', to: 'RECEIVED' } },
    },
  ]);
});
