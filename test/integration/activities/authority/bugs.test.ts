import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  ApplicationFailure,
  activityInfo,
  asyncLocalStorage,
  type Context,
  heartbeat,
} from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { reportBugs, withHeartbeat } from '../../../../src/activities/authority/attempt.ts';
import { Sobre } from '../../../../src/db/entities/authority.ts';
import { OutboxMessage } from '../../../../src/db/entities/operations.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { markStuck } from '../../../../src/db/receipts/cfes.ts';
import { DEADLINES } from '../../../../src/domain/authority/deadlines.ts';
import { createLogger } from '../../../../src/logger.ts';
import { createDispatcher } from '../../../../src/outbox/dispatcher.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../../../support/receipts/pendingCfes.ts';
import { openTemporal, type TestTemporal } from '../../../support/temporal/temporal.ts';
import { until } from '../../../support/until.ts';

const notYet = () =>
  ApplicationFailure.create({ type: 'NotYet', message: 'No verdict yet.', nextRetryDelay: 100 });
const bug = () => new TypeError('that field is undefined');
const outage = () => Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });

let db: TestDatabase;
let now: Date;
let cfe: Cfe;
let sobreId: string;
beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  now = new Date('2026-11-20T12:00:00Z');
  const accountId = await anAccount(db.orm);
  const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
  [cfe] = (await givePendingCfes(db.orm, { accountId, rut, count: 1, from: now })) as [Cfe];
  sobreId = await aSobreOf(db.orm, [cfe]);
  await db.orm.em.fork().nativeDelete(OutboxMessage, {});
});
const clock = () => now;
const later = (milliseconds: number) => {
  now = new Date(now.getTime() + milliseconds);
};
const reason = async () => (await db.orm.em.fork().findOneOrFail(Cfe, { id: cfe.id })).stuckReason;

describe('a step of a sobre that fails', () => {
  /** Attempts of one activity, with a server that keeps what the last one has left. */
  function activity() {
    let kept: unknown;
    return (outcome: (() => Error) | 'done', { of = sobreId } = {}): Promise<unknown> => {
      const context = {
        info: { attempt: 2, heartbeatDetails: kept },
        heartbeat: (details: unknown) => {
          kept = details;
        },
        log: { warn: () => {} },
      };
      const step = reportBugs({ orm: db.worker, clock }, async () => {
        if (outcome !== 'done') throw outcome();
        return 'done';
      });
      return asyncLocalStorage
        .run(context as unknown as Context, () => step(of))
        .catch((error: unknown) => error);
    };
  }
  const signals = async () =>
    (await db.orm.em.fork().find(OutboxMessage, {}, { orderBy: { id: 'asc' } })).map(({ signal }) => signal);

  test('by a mistake of ours: told once, after an hour, and cleared once', async () => {
    const attempt = activity();
    expect(await attempt(bug)).toBeInstanceOf(TypeError);
    later(DEADLINES.bugEscalation - 1);
    await attempt(bug);
    expect([await reason(), await signals()]).toEqual([null, []]);

    later(1);
    await Promise.all([attempt(bug), attempt(bug)]);
    await attempt(bug);
    expect([await reason(), await signals()]).toEqual(['internal', ['stepFails']]);

    expect(await attempt('done')).toBe('done');
    await attempt('done');
    expect([await reason(), await signals()]).toEqual([null, ['stepFails', 'stepGoesOn']]);
  });

  test.each([
    ['an outage', outage],
    ['an answer of the authority', notYet],
  ])('by %s for hours: nobody is told', async (_, failure) => {
    const attempt = activity();
    for (let hour = 0; hour < 3; hour += 1) {
      await attempt(failure);
      later(DEADLINES.bugEscalation);
    }
    await attempt(bug);
    expect([await reason(), await signals()]).toEqual([null, []]);
  });

  test('for another reason by now: it waits for nobody, and the hour begins anew', async () => {
    const attempt = activity();
    await attempt(bug);
    later(DEADLINES.bugEscalation);
    await attempt(bug);
    await attempt(outage);
    expect(await reason()).toBe('internal');
    await attempt(notYet);
    expect([await reason(), await signals()]).toEqual([null, ['stepFails', 'stepGoesOn']]);
    await attempt(bug);
    expect(await reason()).toBeNull();
  });

  test('while it is stuck for another reason, or has its verdict: that stays', async () => {
    const attempt = activity();
    await attempt(bug);
    later(DEADLINES.bugEscalation);
    await markStuck(db.orm.em.fork(), [cfe.id], 'undecided');
    await attempt(bug);
    await attempt('done');
    expect(await reason()).toBe('undecided');
    await db.orm.em
      .fork()
      .nativeUpdate(Cfe, { id: cfe.id }, { status: 'ACCEPTED', stuckReason: null, settledAt: now });
    await attempt(bug);
    expect([await reason(), await signals()]).toEqual([null, []]);
  });

  test('and that cannot be told: its own error is what the history has, and the next attempt tells', async () => {
    const attempt = activity();
    await attempt(bug);
    later(DEADLINES.bugEscalation);
    expect(await attempt(bug, { of: randomUUID() })).toBeInstanceOf(TypeError);
    expect(await reason()).toBeNull();
    await attempt(bug);
    expect(await reason()).toBe('internal');
  });

  test('and takes long: what the attempt before has left goes along with every heartbeat', async () => {
    jest.useFakeTimers();
    try {
      const beats: unknown[] = [];
      const context = {
        info: { heartbeatDetails: 'left' },
        heartbeat: (details: unknown) => beats.push(details),
      };
      await asyncLocalStorage.run(context as unknown as Context, async () => {
        const length = 2.5 * DEADLINES.heartbeatEvery;
        const long = withHeartbeat(() => new Promise((resolve) => setTimeout(resolve, length)));
        await jest.advanceTimersByTimeAsync(length);
        await long;
      });
      expect(beats).toEqual(['left', 'left']);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('at a Temporal server', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const attributes = async (handle: WorkflowHandle) => {
    const { searchAttributes } = await handle.describe();
    return [searchAttributes['NeedsSupport']?.[0] ?? null, searchAttributes['StuckReason']?.[0] ?? null];
  };
  const shows = (handle: WorkflowHandle, expected: unknown[]) =>
    until(`the run to show ${expected.join()}`, 60, async () =>
      (await attributes(handle)).join() === expected.join() ? true : undefined,
    );

  /** The way of a sobre, which fails as `state` says; a dispatcher that brings the signals. */
  async function withFailing(work: (of: Run) => Promise<void>): Promise<void> {
    const state: Run['state'] = { fails: bug, attempts: 0, waits: false };
    const failing = async () => {
      // As a long step does before it fails.
      heartbeat(activityInfo().heartbeatDetails);
      state.attempts += 1;
      if (state.fails) throw state.fails();
      if (state.waits) return { kind: 'waits' };
      return { kind: 'ended', endings: { '101-1': 'ACCEPTED' }, codes: [] };
    };
    const activities = { takeToVerdict: reportBugs({ orm: db.worker, clock }, failing) };
    const dispatcher = createDispatcher({
      orm: db.worker,
      temporal: { address: temporal.address },
      namespace: temporal.namespace,
      logger: createLogger({ name: 'test', level: 'silent' }),
    });
    dispatcher.startRelay();
    try {
      await temporal.withWorkers(activities, async () => {
        const { workflowId } = await db.orm.em.fork().findOneOrFail(Sobre, { id: sobreId });
        const handle = await temporal.client.workflow.start('issueCfes', {
          workflowId,
          taskQueue: 'cfe',
          args: [{ sobreId }],
        });
        await until('attempts', 60, async () => (state.attempts > 1 ? true : undefined));
        later(DEADLINES.bugEscalation);
        await shows(handle, [true, 'internal']);
        expect(await reason()).toBe('internal');
        await work({ handle, state });
        expect(await handle.result()).toEqual({ '101-1': 'ACCEPTED' });
        await shows(handle, [false, null]);
        expect(await reason()).toBeNull();
        await until('the signals to be brought', 30, async () =>
          (await db.orm.em.fork().count(OutboxMessage, { dispatchedAt: null })) === 0 ? true : undefined,
        );
      });
    } finally {
      await dispatcher.close();
    }
  }
  interface Run {
    handle: WorkflowHandle;
    state: { fails: (() => Error) | null; attempts: number; waits: boolean };
  }

  test('it keeps failing: reported after an hour, retried meanwhile, and gone once it is fixed', async () => {
    await withFailing(async ({ handle, state }) => {
      const request = { action: 'retry' };
      await expect(handle.executeUpdate('support', { args: [request] })).rejects.toMatchObject({
        cause: { type: 'NothingToDo', message: expect.stringContaining('by a bug of ours') },
      });
      state.fails = null;
    });
  });

  test('it keeps failing, and is mended while others are before it: the details say that it waits', async () => {
    await withFailing(async ({ handle, state }) => {
      Object.assign(state, { fails: null, waits: true });
      await shows(handle, [false, null]);
      const { currentDetails } = await handle.query<{ currentDetails?: string }>(
        '__temporal_workflow_metadata',
      );
      expect(currentDetails).toMatch(/^Waits for a slot/);
      state.waits = false;
      await handle.signal('slotGiven');
    });
  });

  test('it keeps failing, and is mended while there is no verdict yet: gone at once', async () => {
    await withFailing(async ({ handle, state }) => {
      state.fails = notYet;
      await shows(handle, [false, null]);
      expect((await handle.describe()).status.name).toBe('RUNNING');
      state.fails = null;
    });
  });
});
