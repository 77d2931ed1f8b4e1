import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { Cfe, ReceiptExport } from '../../../src/db/entities/receipts.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { measureDatabase, measureNumbers, measureWorkAndExpiries } from '../../../src/metrics/database.ts';
import { measureVerdicts } from '../../../src/metrics/work.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise, giveCae } from '../../support/enterprises/enterprises.ts';
import { type Sample, samplesOf, valueOf } from '../../support/processes/scrape.ts';
import { startTcpProxy } from '../../support/processes/tcpProxy.ts';
import { day } from '../../support/receipts/papers.ts';
import { aSobreOf } from '../../support/receipts/pendingCfes.ts';
import { storeSubmission } from '../../support/reports/submission.ts';
import { until } from '../../support/until.ts';

const NOW = new Date('2026-09-15T15:00:00Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1_000);

/** The worker's gauges, read anew at every scrape, by a clock that stands still. */
async function scraperOf(orm: Orm): Promise<() => Promise<Sample[]>> {
  const registry = new Registry();
  await measureDatabase(registry, orm);
  const keep = { workMilliseconds: 0, expiriesMilliseconds: 0 };
  measureWorkAndExpiries({ registry, orm, clock: () => NOW, keep });
  return async () => samplesOf(await registry.metrics());
}

interface Cfes {
  accountId: string;
  rut: string;
  count?: number;
  environment?: string;
  status: string;
  createdAt?: Date;
  stuckReason?: string;
}

let sequence = 0;

/** Puts CFEs into the table as they are at some time of their life. */
async function giveCfes(orm: Orm, of: Cfes): Promise<void> {
  const { accountId, rut, count = 1, environment = 'production', status, createdAt = NOW } = of;
  const em = orm.em.fork();
  const [cae] = await em.execute<{ id: string }[]>('select id from cae where rut = ? limit 1', [rut]);
  const [certificate] = await em.execute<{ id: string }[]>(
    'select id from certificate where rut = ? limit 1',
    [rut],
  );
  const settledAt = ['PENDING', 'RECEIVED'].includes(status) ? null : createdAt.toISOString();
  await em.execute(
    `insert into cfe (id, held, receipt_token, account_id, rut, environment, type, sequence, cae_id, serie, numero, status,
       emission_date, currency, pay_amount, document, certificate_id, stuck_reason, created_at, settled_at)
     select gen_random_uuid(), false, gen_random_uuid(), ?, ?, ?, 'ETICKET', n, ?, 'A', n, ?, '2026-09-15', 'UYU', 1, '{}', ?, ?, ?, ?
     from generate_series(?::int, ?::int) n`,
    [
      accountId,
      rut,
      environment,
      cae?.id,
      status,
      certificate?.id,
      of.stuckReason ?? null,
      createdAt.toISOString(),
      settledAt,
      sequence + 1,
      sequence + count,
    ],
  );
  sequence += count;
}

describe('the gauges that the worker reads from the database', () => {
  let db: TestDatabase;
  let accountId: string;
  beforeAll(async () => {
    // One connection: what it did can be asked of it.
    db = await cloneDatabase({ pool: 1 });
    accountId = await anAccount(db.orm);
  });
  afterAll(() => db?.[Symbol.asyncDispose]());

  test('of a service without work are 0, and nobody needs support', async () => {
    const samples = await (await scraperOf(db.orm))();

    for (const environment of ['production', 'sandbox'])
      for (const status of ['PENDING', 'RECEIVED']) {
        expect(valueOf(samples, 'cfe_open_cfes', { environment, status })).toBe(0);
        expect(valueOf(samples, 'cfe_oldest_open_cfe_seconds', { environment, status })).toBe(0);
      }
    expect(samples.filter(({ name }) => name === 'cfe_needs_support')).toEqual([]);
    expect(valueOf(samples, 'cfe_outbox_messages')).toBe(0);
    expect(valueOf(samples, 'cfe_outbox_oldest_seconds')).toBe(0);
    expect(valueOf(samples, 'cfe_run_stands_seconds')).toBe(0);
    expect(valueOf(samples, 'cfe_webhook_waiting_deliveries')).toBe(0);
    expect(valueOf(samples, 'cfe_webhook_oldest_waiting_seconds')).toBe(0);
    expect(valueOf(samples, 'cfe_exports_under_way')).toBe(0);
    expect(valueOf(samples, 'cfe_exports_still_seconds')).toBe(0);
    expect(valueOf(samples, 'cfe_database_up')).toBe(1);
    expect(valueOf(samples, 'cfe_database_pool_waiting')).toBe(0);
    expect(valueOf(samples, 'cfe_database_pool_connections', { state: 'busy' })).toBe(0);
  });

  test('count the CFEs without a verdict and tell the age of the oldest, and of the stuck ones why', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    await giveCfes(db.orm, { accountId, rut, count: 3, status: 'PENDING', createdAt: ago(90) });
    await giveCfes(db.orm, { accountId, rut, count: 2, status: 'PENDING', createdAt: ago(3_600) });
    const stuck = { stuckReason: 'authority.certificate', createdAt: ago(7) };
    await giveCfes(db.orm, { accountId, rut, count: 2, status: 'RECEIVED', ...stuck });
    await giveCfes(db.orm, { accountId, rut, status: 'PENDING', environment: 'sandbox', createdAt: ago(5) });
    await giveCfes(db.orm, { accountId, rut, count: 4, status: 'ACCEPTED', createdAt: ago(80_000) });

    const samples = await (await scraperOf(db.orm))();

    const open = samples.filter(({ name, value }) => name === 'cfe_open_cfes' && value > 0);
    const counts = open.map(({ labels, value }) => `${labels['environment']} ${labels['status']} ${value}`);
    expect(counts.sort()).toEqual(['production PENDING 5', 'production RECEIVED 2', 'sandbox PENDING 1']);
    const oldest = (environment: string, status: string) =>
      valueOf(samples, 'cfe_oldest_open_cfe_seconds', { environment, status });
    expect(oldest('production', 'PENDING')).toBe(3_600);
    expect(oldest('production', 'RECEIVED')).toBe(7);
    expect(oldest('sandbox', 'PENDING')).toBe(5);
    expect(samples.filter(({ name }) => name === 'cfe_needs_support')).toEqual([
      {
        name: 'cfe_needs_support',
        labels: { environment: 'production', stuck_reason: 'authority.certificate' },
        value: 2,
      },
    ]);
  });

  test('count the files with months of receipts, and tell for how long one stands still', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    const ended = { state: 'DONE', movedAt: ago(80_000), endedAt: ago(80_000) } as const;
    const running = { state: 'RUNNING', endedAt: null } as const;
    const rows = [ended, { ...running, movedAt: ago(90) }, { ...running, movedAt: ago(7) }];
    for (const [i, row] of rows.entries())
      await db.orm.em.fork().insert(ReceiptExport, {
        id: `export ${i}`,
        rut,
        environment: 'production',
        month: `2026-0${i + 1}`,
        withPdfs: false,
        actor: 'cli:ana',
        total: 1,
        done: 0,
        leftOut: 0,
        entries: 0,
        contentBytes: 0,
        directoryBytes: 0,
        parts: 0,
        lastCfe: null,
        createdAt: ago(90_000),
        ...row,
      });

    const samples = await (await scraperOf(db.orm))();

    expect(valueOf(samples, 'cfe_exports_under_way')).toBe(2);
    expect(valueOf(samples, 'cfe_exports_still_seconds')).toBe(90);
  });

  test('count daily reports, tell how near the first deadline is, and which wait for support', async () => {
    const silent = await (await scraperOf(db.orm))();
    expect(silent.filter(({ name }) => name.startsWith('cfe_reports'))).toEqual([]);
    const rut = await aReadyEnterprise(db.orm, accountId);
    const day = (days: number) => montevideoDate(ago(days * 86_400));
    const key = (days: number) => ({ rut, environment: 'production', date: day(days) }) as const;
    await storeSubmission(db.orm, key(20));
    await storeSubmission(db.orm, key(21), { stuckReason: 'report.content' });
    const due = `update daily_report set due_at = ? where rut = ? and status = 'REFUSED'`;
    await db.orm.em.fork().execute(due, [ago(60).toISOString(), rut]);

    const samples = await (await scraperOf(db.orm))();
    const of = (name: string) =>
      samples.filter((one) => one.name === name).map(({ labels, value }) => ({ ...labels, value }));
    expect(of('cfe_reports')).toEqual(
      expect.arrayContaining([
        { status: 'RECEIVED', value: 1 },
        { status: 'REFUSED', value: 1 },
      ]),
    );
    expect(of('cfe_reports_due_seconds')).toEqual([{ value: -60 }]);
    expect(of('cfe_reports_need_support')).toEqual([
      { environment: 'production', stuck_reason: 'report.content', value: 1 },
    ]);
  });

  test('tell since when the bulk run in progress stands still that has stood the longest', async () => {
    const aRun = (state: string, movedAt: Date) =>
      db.orm.em.fork().execute(
        `insert into run (id, kind, actor, reason, filter, state, total, done, unneeded, refused, created_at, moved_at)
         values (gen_random_uuid()::text, 'retry', 'service', 'why', '{}', ?, 9, 1, 0, 0, ?, ?)`,
        [state, ago(9_000).toISOString(), movedAt.toISOString()],
      );
    await aRun('DONE', ago(8_000));
    await aRun('STOPPED', ago(7_000));
    await aRun('RUNNING', ago(2_000));
    await aRun('RUNNING', ago(10));
    expect(valueOf(await (await scraperOf(db.orm))(), 'cfe_run_stands_seconds')).toBe(2_000);
  });

  test('tell of the deadline of a day that the schedule has not even stored', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId);
    const due = async () => {
      const samples = await (await scraperOf(db.orm))();
      return samples.find(({ name }) => name === 'cfe_reports_due_seconds')?.value;
    };
    await db.orm.em.fork().execute(`update daily_report set status = 'CONSISTENT'`);
    // NOW is noon of a Tuesday.
    const obligationFrom = (from: string, until: string | null = null) =>
      db.orm.em.fork().execute(
        `insert into reporting_obligation values (?, ?, ?, ?) on conflict (rut) do update
           set from_date = excluded.from_date, until_date = excluded.until_date, next_date = excluded.next_date`,
        [rut, from, until, from],
      );

    await obligationFrom('2026-09-15');
    expect(await due()).toBeUndefined();
    await obligationFrom('2026-09-14');
    expect(await due()).toBe(6 * 3_600);
    await obligationFrom('2026-09-11');
    expect(await due()).toBe(-18 * 3_600);
    await obligationFrom('2026-09-11', '2026-09-11');
    expect(await due()).toBeUndefined();
    await db.orm.em.fork().execute(`update enterprise set issuer_since = '2026-09-14' where rut = ?`, [rut]);
    await obligationFrom('2026-09-11');
    expect(await due()).toBe(6 * 3_600);
    await obligationFrom('2026-09-15');
  });

  test('tell which endpoints of the authority are away, and how many CFEs wait for each', async () => {
    const em = db.orm.em.fork();
    await em.execute(
      `update authority_endpoint set open_since = now(), next_probe_at = now() where name = 'production/reception'`,
    );

    const samples = await (await scraperOf(db.orm))();

    const of = (name: string) =>
      Object.fromEntries(
        samples.filter((one) => one.name === name).map(({ labels, value }) => [labels['endpoint'], value]),
      );
    const none = {
      credentials: 0,
      rates: 0,
      'production/consultation': 0,
      'production/reception': 0,
      'production/registry': 0,
      'sandbox/consultation': 0,
      'sandbox/reception': 0,
      'sandbox/registry': 0,
    };
    expect(of('cfe_authority_breaker_open')).toEqual({ ...none, 'production/reception': 1 });
    expect(of('cfe_authority_waiting_cfes')).toEqual({
      ...none,
      'production/reception': 5,
      'sandbox/reception': 1,
    });

    // One in a sobre that has its slot waits no more; one in a sobre that waits for it does.
    const waits = { environment: 'production', status: 'PENDING', sobreId: null } as const;
    const [one, other] = (await em.find(Cfe, waits, { limit: 2 })) as [Cfe, Cfe];
    await aSobreOf(db.orm, [one]);
    await aSobreOf(db.orm, [other], { slot: null });
    const later = await (await scraperOf(db.orm))();
    const waiting = later.filter(({ name }) => name === 'cfe_authority_waiting_cfes');
    expect(waiting.find(({ labels }) => labels['endpoint'] === 'production/reception')?.value).toBe(4);
  });

  test('count what waits in the outbox and for customers’ servers', async () => {
    const em = db.orm.em.fork();
    const message = (createdAt: Date, dispatchedAt: Date | null) =>
      em.execute(
        `insert into outbox (lane, workflow, workflow_id, input, search_attributes, created_at, dispatched_at, attempts, not_before)
         values (0, 'issueCfes', 'cfe:x', '{}', '{}', ?, ?, 0, ?)`,
        [createdAt.toISOString(), dispatchedAt?.toISOString() ?? null, createdAt.toISOString()],
      );
    await message(ago(500), ago(499));
    await message(ago(40), null);
    await message(ago(30), null);
    const [webhookId, eventId] = [randomUUID(), randomUUID()];
    await em.execute(
      `insert into webhook (id, account_id, url, events, sealed_secret, enabled, created_at)
       values (?, ?, 'https://receiver.example/', '{cfe.updated}', 'sealed', true, ?)`,
      [webhookId, accountId, NOW.toISOString()],
    );
    await em.execute(
      `insert into event (id, rut, name, environment, body, created_at)
       values (?, null, 'webhook.test', 'production', '{}', ?)`,
      [eventId, NOW.toISOString()],
    );
    for (const [status, at] of [
      ['PENDING', ago(61)],
      ['PENDING', ago(9)],
      ['FAILED', ago(9_000)],
      ['DELIVERED', ago(9_000)],
    ] as const)
      await em.execute(
        `insert into delivery (id, workflow_id, webhook_id, event_id, event_name, status, created_at, settled_at)
         values (gen_random_uuid(), gen_random_uuid(), ?, ?, 'webhook.test', ?, ?, ?)`,
        [webhookId, eventId, status, at.toISOString(), status === 'PENDING' ? null : NOW.toISOString()],
      );

    const samples = await (await scraperOf(db.orm))();

    expect(valueOf(samples, 'cfe_outbox_messages')).toBe(2);
    expect(valueOf(samples, 'cfe_outbox_oldest_seconds')).toBe(40);
    expect(valueOf(samples, 'cfe_webhook_waiting_deliveries')).toBe(2);
    expect(valueOf(samples, 'cfe_webhook_oldest_waiting_seconds')).toBe(61);
  });

  test('tell of each enterprise what numbers are left and when its papers end', async () => {
    const today = day(0, NOW);
    const inDays = (days: number) => day(days, NOW);
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [] });
    await giveCae(db.orm, rut, { from: 1, to: 100, last: 100, expirationDate: inDays(10) });
    await giveCae(db.orm, rut, { from: 101, to: 200, last: 160, expirationDate: today });
    await giveCae(db.orm, rut, { from: 201, to: 300, expirationDate: inDays(400) });
    // All that it had of this type is over since yesterday; of the other one since long ago.
    await giveCae(db.orm, rut, { type: 'EFACTURA', to: 50, expirationDate: inDays(-1) });
    await giveCae(db.orm, rut, { type: 'EFACTURA_NC', to: 50, expirationDate: inDays(-31) });
    await giveCae(db.orm, rut, { environment: 'sandbox', expirationDate: inDays(5) });
    const ends = (notAfter: Date) => db.orm.em.fork().nativeUpdate(Certificate, { rut }, { notAfter });
    await ends(ago(-12 * 86_400));
    const suspended = await aReadyEnterprise(db.orm, accountId, {
      values: { status: 'SUSPENDED', statusBeforeSuspension: 'READY' },
    });
    const scrape = await scraperOf(db.orm);

    const samples = await scrape();

    const caes = (name: string) =>
      samples
        .filter((one) => one.name === name && one.labels['rut'] === rut)
        .map(({ labels, value }) => [labels['type'], value]);
    expect(caes('cfe_cae_numbers_left')).toEqual([
      ['EFACTURA', 0],
      ['ETICKET', 140],
    ]);
    expect(caes('cfe_cae_days_left')).toEqual([
      ['EFACTURA', -1],
      ['ETICKET', 400],
    ]);
    expect(valueOf(samples, 'cfe_certificate_days_left', { rut })).toBe(12);
    expect(samples.filter(({ labels }) => labels['rut'] === suspended)).toEqual([]);

    await ends(ago(2 * 86_400));
    expect(valueOf(await scrape(), 'cfe_certificate_days_left', { rut })).toBe(-2);
    await ends(ago(31 * 86_400));
    expect(valueOf(await scrape(), 'cfe_certificate_days_left', { rut })).toBeUndefined();
  });

  test('CAEs with a number that is unaccounted for', async () => {
    const { em } = db.orm;
    const count = async (environment: string) => {
      const registry = new Registry();
      measureNumbers(registry, db.orm);
      return valueOf(samplesOf(await registry.metrics()), 'cfe_unaccounted_caes', { environment });
    };
    const before = await count('production');
    await aReadyEnterprise(db.orm, accountId, { caes: [{}] });
    expect(await count('production')).toBe(before);

    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{}] });
    await em.fork().execute('update cae set last_number = 1 where rut = ?', [rut]);
    expect(await count('production')).toBe(Number(before) + 1);
    expect(await count('sandbox')).toBeDefined();
  });

  test('cost no walk through all CFEs that ever were', async () => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    await giveCfes(db.orm, { accountId, rut, count: 20_000, status: 'ACCEPTED' });
    const em = db.orm.em.fork();
    await db.asOwner('analyze cfe');
    const walks = async (): Promise<unknown> => {
      await em.execute('select pg_stat_force_next_flush()');
      return em.execute(
        `select relname, seq_scan::int as walks from pg_stat_user_tables where relname = 'cfe'`,
      );
    };
    const before = await walks();

    const samples = await (await scraperOf(db.orm))();

    expect(valueOf(samples, 'cfe_open_cfes', { environment: 'sandbox', status: 'PENDING' })).toBe(1);
    expect(await walks()).toEqual(before);
  });
});

test('a database that is away takes its own gauges away and nothing else', async () => {
  await using db = await cloneDatabase();
  const proxy = await startTcpProxy(db.databaseUrl);
  const orm = await openOrm({ databaseUrl: proxy.url, pool: 2 });
  const registry = new Registry();
  await measureDatabase(registry, orm);
  const keep = { workMilliseconds: 0, expiriesMilliseconds: 0 };
  measureWorkAndExpiries({ registry, orm, clock: () => NOW, keep });
  measureVerdicts(registry)({ environment: 'production', type: 'ETICKET', status: 'ACCEPTED', seconds: 3 });
  try {
    expect(valueOf(samplesOf(await registry.metrics()), 'cfe_outbox_messages')).toBe(0);

    await proxy.cut();
    // The answer of a moment ago still counts for a second.
    await until('the database to be found away', 10, async () => {
      return valueOf(samplesOf(await registry.metrics()), 'cfe_database_up') === 0 || undefined;
    });

    const samples = samplesOf(await registry.metrics());
    expect(new Set(samples.map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')))).toEqual(
      new Set([
        'cfe_database_up',
        'cfe_database_pool_connections',
        'cfe_database_pool_waiting',
        'cfe_verdicts_total',
        'cfe_verdict_wait_seconds',
      ]),
    );
  } finally {
    await proxy.cut();
    await orm.close(true);
  }
});
