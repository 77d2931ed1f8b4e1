import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { createRecoverRuns } from '../../../src/activities/operations/recoverRuns.ts';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import type { Recovered } from '../../../src/domain/authority/activityResults.ts';
import { createDispatcher, type Dispatcher } from '../../../src/outbox/dispatcher.ts';
import { createRunCheck } from '../../../src/wiring/temporal/runsAt.ts';
import { ensureSchedules } from '../../../src/wiring/temporal/schedules.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anIssuer, giveCfes } from '../../support/mail/receipts.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { openTemporal, recordHistory, type TestTemporal } from '../../support/temporal/temporal.ts';
import { until } from '../../support/until.ts';

const NOW = new Date('2026-11-20T13:00:00Z');
const [OLD, YOUNG] = [new Date('2026-11-20T12:29:00Z'), new Date('2026-11-20T12:31:00Z')];

describe('what has no run is started again', () => {
  let db: TestDatabase;
  let temporal: TestTemporal;
  let connection: NativeConnection;
  let dispatcher: Dispatcher;
  let issuer: Awaited<ReturnType<typeof anIssuer>>;
  beforeAll(async () => {
    [db, temporal] = await Promise.all([cloneDatabase({ worker: true }), openTemporal('cfe')]);
    connection = await NativeConnection.connect({ address: temporal.address });
    issuer = await anIssuer(db.orm);
    dispatcher = createDispatcher({
      orm: db.worker,
      temporal: { address: temporal.address },
      namespace: temporal.namespace,
      logger: pino({ level: 'silent' }),
    });
  });
  beforeEach(async () => {
    for (const table of ['outbox', 'exchange', 'daily_report', 'mail']) {
      await db.orm.em.fork().execute(`delete from ${table}`);
    }
  });
  afterAll(async () => {
    await dispatcher.close();
    await connection.close();
    await temporal[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });

  /** Accepted CFEs on their way to a receiver since then; their ids. */
  async function giveExchanges(count: number, since: Date): Promise<string[]> {
    const cfes = await giveCfes(db.orm, issuer, { status: 'ACCEPTED', count });
    for (const { id } of cfes) {
      await db.orm.em.fork().execute(
        `insert into exchange (cfe_uuid, rut, environment, receiver_rut, state, created_at)
         values (?, ?, 'production', '219999820013', 'PENDING', ?)`,
        [id, issuer.rut, since],
      );
    }
    return cfes.map(({ id }) => id);
  }
  const giveReport = () =>
    db.orm.em.fork().execute(
      `insert into daily_report (rut, environment, date, status, is_complete, send_now, accepted_as_is, workflow_id, due_at, started_at, created_at)
       values (?, 'production', '2026-11-19', 'OPEN', false, false, false, ?, ?, ?, ?)`,
      [issuer.rut, `report:${issuer.rut}:2026-11-19`, OLD, OLD, OLD],
    );
  const waiting = async () =>
    (await db.orm.em.fork().find(OutboxMessage, { dispatchedAt: null }, { orderBy: { id: 'asc' } })).map(
      ({ workflow, signal, input }) => ({ workflow, signal, input }),
    );
  const recovering = (
    hasRun: (id: string) => Promise<boolean>,
    outbox: { scheduleDispatch(): void } = idleOutbox,
  ) => createRecoverRuns({ orm: db.worker, clock: () => NOW, outbox, hasRun, page: 2 });
  /** As the workflow does: page after page. */
  async function recoverAll(activity: ReturnType<typeof recovering>): Promise<number> {
    let recovered = 0;
    let after: Recovered['after'] = null;
    do {
      const from: Recovered['after'] = after;
      const looked: Recovered = await asActivity(() => activity(from));
      recovered += looked.recovered;
      after = looked.after;
    } while (after !== null);
    return recovered;
  }

  test('page after page, once it is half an hour old, by a start without a signal', async () => {
    const old = await giveExchanges(5, OLD);
    await giveExchanges(1, YOUNG);
    await giveReport();

    expect(await recoverAll(recovering(async () => false))).toBe(6);

    const started = await waiting();
    expect(started.map(({ signal }) => signal)).toEqual(Array(6).fill(null));
    expect(new Set(started.flatMap(({ input }) => input['cfeUuid'] ?? []))).toEqual(new Set(old));
    expect(started.filter(({ workflow }) => workflow === 'reportDay')).toHaveLength(1);
  });

  test('what has a run is left alone', async () => {
    await giveExchanges(3, OLD);

    expect(await recoverAll(recovering(async () => true))).toBe(0);
    expect(await waiting()).toEqual([]);
  });

  test('an exchange and a report that somebody terminated go on within the hour, begun by the schedule', async () => {
    await giveExchanges(1, OLD);
    await giveReport();
    const hasRun = createRunCheck(connection, temporal.namespace);
    const running = async () => {
      const ids: string[] = [];
      for (const { workflowId } of await db.orm.em.fork().find(OutboxMessage, {})) {
        if (await hasRun(workflowId)) ids.push(workflowId);
      }
      return new Set(ids);
    };
    const recoverRuns = recovering(hasRun, dispatcher);
    expect(await recoverAll(recoverRuns)).toBe(2);
    const ids = await until('both runs', 20, async () =>
      (await running()).size === 2 ? await running() : undefined,
    );
    expect(await recoverAll(recoverRuns)).toBe(0);
    for (const id of ids) await temporal.client.workflow.getHandle(id).terminate('by hand');
    expect(await running()).toEqual(new Set());

    await ensureSchedules({ address: temporal.address }, temporal.namespace, { reportsAt: '02:00' });
    const schedule = temporal.client.schedule.getHandle('recover');
    await temporal.withWorkers({ recoverRuns }, async () => {
      await schedule.trigger();
      const workflowId = await until('the run', 20, async () => {
        const [run] = (await schedule.describe()).info.recentActions;
        return run?.action.workflow.workflowId;
      });
      const handle = temporal.client.workflow.getHandle(workflowId);
      expect(await handle.result()).toEqual({ recovered: 2 });
      await recordHistory(handle, 'recoverRuns.startedAgain');
    });
    await until('both runs once more', 20, async () => (await running()).size === 2);
  });
});
