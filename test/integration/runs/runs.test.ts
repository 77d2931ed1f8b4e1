import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createActOnItems, createStopItems } from '../../../src/activities/operations/actOnItems.ts';
import { actOnRunItem } from '../../../src/commands/operations/actOnRunItem.ts';
import { startRun, stopRun } from '../../../src/commands/operations/runs.ts';
import type { SupportCfeDeps } from '../../../src/commands/operations/supportCfe.ts';
import { addWebhook, testWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { type Run, RunItem } from '../../../src/db/entities/operations.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { Delivery, DeliveryAttempt } from '../../../src/db/entities/webhooks.ts';
import { recordOutcome } from '../../../src/db/operations/audit.ts';
import { findRun } from '../../../src/db/operations/runs.ts';
import { UNFINISHED } from '../../../src/db/operations/unfinished.ts';
import { markStuck } from '../../../src/db/receipts/cfes.ts';
import type { RunResult } from '../../../src/domain/authority/activityResults.ts';
import type { StuckReason } from '../../../src/domain/authority/stuckReason.ts';
import type { RunFilter, RunKind } from '../../../src/domain/operations/run.ts';
import { Refusal } from '../../../src/errors.ts';
import { anAccount, outboxOf } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../../support/receipts/pendingCfes.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

type Ask = SupportCfeDeps['askSupport'];

describe('bulk runs', () => {
  let db: TestDatabase;
  let accountId: string;
  let rut: string;
  beforeAll(async () => {
    db = await cloneDatabase({ pool: 10, worker: true });
    accountId = await anAccount(db.orm);
    rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ to: 4_000 }] });
  });
  afterAll(() => db[Symbol.asyncDispose]());
  let auditBefore = 0;
  beforeEach(async () => {
    await db.asOwner(
      'truncate run, run_item, delivery, outbox cascade',
      'update cfe set stuck_reason = null where stuck_reason is not null',
    );
    const [row] = await db.orm.em
      .fork()
      .execute<{ last: number }[]>('select coalesce(max(id), 0)::int as last from audit');
    auditBefore = row?.last ?? 0;
  });

  const origin = { keyId: null, address: '198.51.100.7' };
  const deps = () => ({ ...webhookDeps(db.orm), actor: 'console:ana@example.com' as const, origin });
  const stuckCfes = async (count: number, reason: StuckReason = 'signing'): Promise<Cfe[]> => {
    const cfes = await givePendingCfes(db.orm, {
      accountId,
      rut,
      count,
      from: new Date('2026-11-20T12:00:00Z'),
    });
    for (const cfe of cfes) await aSobreOf(db.orm, [cfe]);
    const ids = cfes.map(({ id }) => id);
    await markStuck(db.orm.em.fork(), ids, reason);
    return db.orm.em.fork().find(Cfe, { id: { $in: ids } }, { orderBy: { sequence: 'asc' } });
  };
  const start = (kind: RunKind, filter: RunFilter, expected?: number): Promise<Run> =>
    startRun(deps(), { kind, filter, reason: 'renovado', accounts: null, expected });
  const items = (id: string): Promise<RunItem[]> =>
    db.orm.em.fork().find(RunItem, { runId: id }, { orderBy: { place: 'asc' } });
  const now = async (id: string): Promise<Run> => {
    const run = await findRun(db.orm.em.fork(), id, null);
    if (!run) throw new Error('the run is gone');
    return run;
  };

  /** What the workflow of a CFE does when it is asked: acts, writes the audit with it, and answers. */
  const workflows =
    (asked: string[] = []): Ask =>
    async (workflowId, { action, requestId }) => {
      asked.push(requestId);
      const em = db.orm.em.fork();
      const [runId = '', place] = requestId.split(':');
      const item = await em.findOneOrFail(RunItem, { runId, place: Number(place) });
      await em.transactional(async (open) => {
        const cfe = await open.findOneOrFail(Cfe, { id: item.subject });
        cfe.stuckReason = null;
        const act = { action: `cfe.${action}`, subject: cfe.id, rut, requestId, said: [] } as const;
        await recordOutcome(open, { ...act, outcome: 'retried' }, new Date());
      });
      expect(workflowId).not.toBe('');
      return { outcome: 'retried', message: 'It is tried again.' };
    };
  const acting = (askSupport: Ask, batch = 50) =>
    createActOnItems({
      ...deps(),
      orm: db.worker,
      act: (run, item) => actOnRunItem({ ...deps(), orm: db.worker, askSupport }, run, item),
      itemsPerSecond: () => 1_000_000,
      batch,
    });
  /** The workflow, without Temporal. */
  async function drive(id: string, askSupport: Ask, batch?: number): Promise<RunResult> {
    for (;;) {
      const result = await asActivity(() => acting(askSupport, batch)(id));
      if (result.kind === 'ended') return result;
    }
  }
  const auditRows = () =>
    db.orm.em
      .fork()
      .execute<Record<'actor' | 'address' | 'action' | 'subject' | 'reason', string | null>[]>(
        'select actor, address, action, subject, reason from audit where id > ? order by id',
        [auditBefore],
      );

  test('what matches is fixed at the start, oldest first; all of it is done, each once, in the name of who started it', async () => {
    const cfes = await stuckCfes(60);
    const others = await stuckCfes(3, 'undecided');
    const run = await start('retry', { stuckReason: 'signing', rut });
    await stuckCfes(2);
    const asked: string[] = [];

    expect(run).toMatchObject({ kind: 'retry', state: 'RUNNING', total: 60, accountId: null });
    expect(run.id).toMatch(/^retry-\d{4}-\d{2}-\d{2}-[0-9a-f]{6}$/);
    expect(await outboxOf(db.orm, `run:${run.id}`)).toEqual([
      { workflow: 'bulkRun', signal: null, input: { runId: run.id } },
    ]);
    expect(await drive(run.id, workflows(asked))).toEqual({
      kind: 'ended',
      state: 'DONE',
      total: 60,
      done: 60,
      unneeded: 0,
      refused: 0,
    });

    expect((await items(run.id)).map(({ subject }) => subject)).toEqual(cfes.map(({ id }) => id));
    expect(new Set(asked).size).toBe(60);
    expect(asked).toHaveLength(60);
    const rows = await auditRows();
    expect(rows[0]).toEqual({
      actor: 'console:ana@example.com',
      address: '198.51.100.7',
      action: 'run.start',
      subject: run.id,
      reason: 'renovado',
    });
    const acts = rows
      .slice(1)
      .map(({ actor, address, action, reason }) => [actor, address, action, reason].join(' '));
    expect(new Set(acts)).toEqual(
      new Set([`console:ana@example.com 198.51.100.7 cfe.retry renovado (${run.id})`]),
    );
    const left = await db.orm.em.fork().count(Cfe, { stuckReason: 'signing' });
    expect([left, await db.orm.em.fork().count(Cfe, { stuckReason: 'undecided' })]).toEqual([
      2,
      others.length,
    ]);
  });

  test('cancelled while it acts: what is begun gets its outcome, nothing more is begun, and the counts say so', async () => {
    await stuckCfes(20);
    const run = await start('retry', { stuckReason: 'signing' });
    const asked: string[] = [];
    const cancel = new AbortController();
    const cancelled: Ask = (...question) => {
      if (asked.length >= 3) cancel.abort();
      return workflows(asked)(...question);
    };

    const result = await asActivity(() => acting(cancelled)(run.id), {
      attempt: 1,
      cancellationSignal: cancel.signal,
    });

    expect(asked.length).toBeLessThan(10);
    expect(result).toMatchObject({ kind: 'goesOn', total: 20, done: asked.length });
  });

  test('a worker that dies between an act and its outcome: the act is not repeated', async () => {
    await stuckCfes(3);
    const run = await start('retry', { stuckReason: 'signing' });
    const asked: string[] = [];
    const dies: Ask = async (...question) => {
      await workflows(asked)(...question);
      throw new Error('the worker is gone');
    };

    await expect(asActivity(() => acting(dies)(run.id))).rejects.toThrow('the worker is gone');
    const result = await drive(run.id, workflows(asked));

    expect(result).toMatchObject({ kind: 'ended', state: 'DONE', done: 3, refused: 0 });
    expect(asked).toHaveLength(3);
    expect((await auditRows()).filter(({ action }) => action === 'cfe.retry')).toHaveLength(3);
  });

  test('two workers at the same run at once count each thing once', async () => {
    await stuckCfes(20);
    const run = await start('retry', { stuckReason: 'signing' });
    const answers: Ask = async () => ({ outcome: 'retried', message: 'It is tried again.' });

    await Promise.all([drive(run.id, answers, 10), drive(run.id, answers, 10)]);

    expect(await now(run.id)).toMatchObject({ state: 'DONE', done: 20, unneeded: 0, refused: 0 });
  });

  test('one that goes on, or is stuck for another reason by now, is left alone; refusals are kept with their words', async () => {
    const [gone, other, refused, asleep] = await stuckCfes(4);
    const run = await start('abandon', { stuckReason: 'signing' });
    await markStuck(db.orm.em.fork(), [gone?.id ?? ''], null);
    await markStuck(db.orm.em.fork(), [other?.id ?? ''], 'undecided');
    const asked: string[] = [];
    const askSupport: Ask = async (workflowId) => {
      asked.push(workflowId);
      if (workflowId === asleep?.workflowId)
        throw new Refusal('UNAVAILABLE', 'No worker accepts the request.');
      return { outcome: 'refused', message: 'The authority has it.' };
    };

    expect(await drive(run.id, askSupport)).toMatchObject({
      state: 'DONE',
      done: 0,
      unneeded: 2,
      refused: 2,
    });

    expect((await items(run.id)).map(({ subject, outcome, message }) => [subject, outcome, message])).toEqual(
      [
        [
          gone?.id,
          'nothing_to_do',
          'Nothing to do: it is PENDING, is not stuck, and continues automatically.',
        ],
        [other?.id, 'nothing_to_do', 'Left alone: it is now stuck for another reason.'],
        [refused?.id, 'refused', 'The authority has it.'],
        [asleep?.id, 'refused', 'No worker accepts the request.'],
      ],
    );
    expect(asked.filter((id) => id === asleep?.workflowId)).toHaveLength(3);
  });

  test('what fails by a mistake of ours is left alone, and nobody is asked: it goes on by itself', async () => {
    await stuckCfes(1, 'internal');
    const run = await start('retry', {});
    const nobody: Ask = () => Promise.reject(new Error('nobody is to be asked'));

    expect(await drive(run.id, nobody)).toMatchObject({ state: 'DONE', done: 0, unneeded: 1, refused: 0 });

    expect((await items(run.id)).map(({ message }) => message)).toEqual([
      expect.stringContaining('because of a bug'),
    ]);
  });

  test('stopped: nothing more is begun, what was done stays, and it is told', async () => {
    await stuckCfes(30);
    const run = await start('retry', { stuckReason: 'signing' });
    let asked = 0;
    const askSupport: Ask = async () => {
      asked += 1;
      if (asked === 7) await stopRun({ ...deps(), actor: 'cli:eva' }, { id: run.id, accounts: null });
      return { outcome: 'retried', message: 'It is tried again.' };
    };

    expect(await drive(run.id, askSupport)).toMatchObject({ kind: 'ended', state: 'STOPPED', done: asked });

    // Those that were in progress beside the one after which it was stopped have ended too.
    expect(asked).toBeLessThan(7 + 2 * 5);
    const stopped = await now(run.id);
    expect(stopped).toMatchObject({ stopAskedBy: 'cli:eva', done: asked });
    expect(stopped.endedAt).not.toBeNull();
    expect((await auditRows()).at(-1)).toMatchObject({
      actor: 'cli:eva',
      action: 'run.stop',
      subject: run.id,
    });
    expect(await stopRun(deps(), { id: run.id, accounts: null })).toMatchObject({ stopAskedBy: 'cli:eva' });
    expect((await auditRows()).filter(({ action }) => action === 'run.stop')).toHaveLength(1);
  });

  test('cancelled in Temporal it ends in its rows; one whose workflow was lost is started again by recovery', async () => {
    await stuckCfes(2);
    const [first, second] = [await start('retry', { rut }), await start('retry', { rut })];
    await createStopItems(deps())(first.id);

    expect(await now(first.id)).toMatchObject({ state: 'STOPPED', done: 0 });
    const unfinished = async (of?: string) =>
      (await UNFINISHED.bulkRun(db.orm.em.fork(), { rut: of })).map(({ workflowId }) => workflowId);
    expect(await unfinished()).toEqual([`run:${second.id}`]);
    expect(await unfinished(rut)).toEqual([`run:${second.id}`]);
    expect(await unfinished('210000000018')).toEqual([]);
  });

  test('what may not be started: nothing, more than was shown, an abandonment without a reason, without its webhook', async () => {
    await stuckCfes(3);
    const code = (work: Promise<unknown>) =>
      work.then(
        () => 'started',
        (error: unknown) => (error instanceof Refusal ? (error.faults[0]?.code ?? error.code) : 'thrown'),
      );
    expect(await code(start('retry', { stuckReason: 'undecided' }))).toBe('run.nothing');
    expect(await code(start('retry', { stuckReason: 'signing' }, 2))).toBe('run.more');
    expect(await code(start('retry', { stuckReason: 'signing' }, 4))).toBe('started');
    expect(await code(start('abandon', { rut }))).toBe('run.blind');
    expect(await code(start('redeliver', {}))).toBe('run.webhook');
    expect(await code(start('redeliver', { webhook: accountId }))).toBe('NOT_FOUND');
    const customer = { kind: 'retry', filter: { rut }, reason: 'x', accounts: [accountId] } as const;
    expect(await code(startRun(deps(), customer))).toBe('FORBIDDEN');
    const long = { kind: 'retry', filter: { rut }, reason: 'x'.repeat(451), accounts: null } as const;
    expect(await code(startRun(deps(), long))).toBe('run.reason');
    expect((await auditRows()).map(({ action }) => action)).toEqual(['run.start']);
  });

  describe('of deliveries', () => {
    let webhookId: string;
    beforeAll(async () => {
      const input = { accountId, url: 'https://hooks.example.com/', events: ['cfe.updated'] };
      webhookId = (await addWebhook(deps(), input)).webhook.id;
    });
    const failed = async (count: number, settledAt = '2026-11-20T12:00:00Z'): Promise<string[]> => {
      const ids: string[] = [];
      for (let i = 0; i < count; i += 1) ids.push((await testWebhook(deps(), { webhookId })).id);
      await db.orm.em
        .fork()
        .nativeUpdate(Delivery, { id: { $in: ids } }, { status: 'FAILED', settledAt: new Date(settledAt) });
      return ids;
    };
    /** Deliveries whose first attempt failed a minute before `next`, which is when they are tried again. */
    const waiting = async (count: number, next = '2026-11-20T12:01:00Z'): Promise<string[]> => {
      const em = db.orm.em.fork();
      const ids: string[] = [];
      for (let i = 0; i < count; i += 1) {
        const { id: deliveryId } = await testWebhook(deps(), { webhookId });
        const [nextAttemptAt, at] = [new Date(next), new Date(Date.parse(next) - 60_000)];
        const attempt = { httpStatus: 503, error: null, answer: '', milliseconds: 5 };
        await em.insert(DeliveryAttempt, { deliveryId, number: 1, execution: 'a', at, ...attempt });
        await em.nativeUpdate(Delivery, { id: deliveryId }, { nextAttemptAt });
        ids.push(deliveryId);
      }
      return ids;
    };
    const nobody: Ask = async () => {
      throw new Error('no workflow of a CFE is asked');
    };
    const restarts = async (): Promise<number> => {
      const [row] = await db.orm.em
        .fork()
        .execute<{ n: number }[]>(
          `select count(*)::int as n from outbox where workflow = 'deliverWebhook' and signal = 'deliverAgain'`,
        );
      return row?.n ?? 0;
    };

    test('all that failed since then begin again, each once, by a customer too; one that arrived meanwhile does not', async () => {
      await failed(2, '2026-11-19T12:00:00Z');
      const ids = await failed(8);
      // What is no filter of deliveries is not kept: it could name what is somebody else's.
      const filter = { webhook: webhookId, since: '2026-11-20T00:00:00Z', rut: '210000000018' };
      const run = await startRun(deps(), {
        kind: 'redeliver',
        filter,
        reason: 'volvió',
        accounts: [accountId],
      });
      expect(run).toMatchObject({ total: 8, accountId });
      expect(run.filter).toEqual({ webhook: webhookId, since: '2026-11-20T00:00:00Z' });
      await db.orm.em.fork().nativeUpdate(Delivery, { id: ids[0] ?? '' }, { status: 'DELIVERED' });

      expect((await Promise.all([drive(run.id, nobody), drive(run.id, nobody)]))[0]).toMatchObject({
        state: 'DONE',
        done: 7,
        unneeded: 1,
      });

      expect(await restarts()).toBe(7);
      expect(await db.orm.em.fork().count(Delivery, { status: 'PENDING' })).toBe(7);
      const redelivered = (await auditRows()).filter(({ action }) => action === 'delivery.redeliver');
      expect(redelivered).toHaveLength(7);
      expect(redelivered[0]).toMatchObject({
        actor: 'console:ana@example.com',
        reason: `volvió (${run.id})`,
      });
    });

    test('those that wait for their next retry are sent at once too; one whose first attempt is in progress is not', async () => {
      await waiting(1, '2026-11-19T12:01:00Z');
      const [arrived] = await waiting(3);
      await failed(2);
      await testWebhook(deps(), { webhookId });
      const filter = { webhook: webhookId, since: '2026-11-20T00:00:00Z' };
      const run = await startRun(deps(), {
        kind: 'redeliver',
        filter,
        reason: 'volvió',
        accounts: [accountId],
      });
      expect(run.total).toBe(5);
      const em = db.orm.em.fork();
      await em.nativeUpdate(
        Delivery,
        { id: arrived ?? '' },
        { status: 'DELIVERED', settledAt: new Date(), nextAttemptAt: null },
      );

      expect(await drive(run.id, nobody)).toMatchObject({ state: 'DONE', done: 4, unneeded: 1, refused: 0 });

      expect(await restarts()).toBe(4);
      expect(await em.count(Delivery, { status: 'PENDING', askedAgain: true, nextAttemptAt: null })).toBe(2);
      expect(
        (
          await startRun(deps(), {
            kind: 'redeliver',
            filter: { webhook: webhookId },
            reason: 'y',
            accounts: null,
          })
        ).total,
      ).toBe(1);
    });

    test('a webhook has one run at a time; another account has none of it', async () => {
      await failed(1);
      const other = await anAccount(db.orm);
      const input = { kind: 'redeliver', filter: { webhook: webhookId }, reason: 'x' } as const;
      await expect(startRun(deps(), { ...input, accounts: [other] })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
      const run = await startRun(deps(), { ...input, accounts: [accountId] });
      await expect(startRun(deps(), { ...input, accounts: [accountId] })).rejects.toMatchObject({
        faults: [{ code: 'run.under_way' }],
      });
      expect(await findRun(db.orm.em.fork(), run.id, [other])).toBeNull();
      await expect(stopRun(deps(), { id: run.id, accounts: [other] })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
    });
  });

  test('a hundred thousand: stored at the start in seconds, taken by index', async () => {
    await db.orm.em.fork().execute(
      `insert into run (id, kind, actor, reason, filter, state, total, done, unneeded, refused, created_at, moved_at)
       values ('retry-many', 'retry', 'service', 'x', '{}', 'RUNNING', 100000, 0, 0, 0, now(), now())`,
    );
    await db.orm.em
      .fork()
      .execute(
        `insert into run_item (run_id, place, subject, was) select 'retry-many', n, gen_random_uuid(), 'signing' from generate_series(1, 100000) n`,
      );
    await db.asOwner('analyze run_item');
    const plan = await db.orm.em
      .fork()
      .execute<Record<string, string>[]>(
        `explain select * from run_item where run_id = 'retry-many' and outcome is null order by attempts, place limit 50`,
      );
    expect(JSON.stringify(plan)).toContain('run_item_left');
    expect(JSON.stringify(plan)).not.toContain('Sort');
  });
});
