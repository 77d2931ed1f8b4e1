import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities as AllActivities } from '../../src/activities/activities.ts';
import type { CfeEnding, VerdictResult } from '../../src/domain/authority/activityResults.ts';
import {
  detailsOf,
  eventsOf,
  historyOf,
  openTemporal,
  recordHistory,
  sobreMessage,
  startIssueCfes,
  type TestTemporal,
  timersOf,
} from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

type Activities = Pick<AllActivities, 'takeToVerdict'>;
/** What one attempt comes to, or does. */
type Attempt = VerdictResult | (() => Promise<VerdictResult>);

const ended = (endings: Record<string, CfeEnding>, codes: string[] = []): VerdictResult => ({
  kind: 'ended',
  endings,
  codes,
});
const ACCEPTED = ended({ '101-1': 'ACCEPTED' });
/** A hundred CFEs, as many as share a sobre. */
const HUNDRED = Array.from({ length: 100 }, (_, i) => `101-${i + 1}`);
const MOST_EVENTS = 13;

/** An activity whose attempts come to these results one after the other, and the sobres that it was called for. */
function attempts(...script: Attempt[]) {
  const sobres: string[] = [];
  const activities: Activities = {
    async takeToVerdict(sobreId) {
      sobres.push(sobreId);
      const next = script.shift();
      if (!next) throw new Error('nothing more was expected');
      return typeof next === 'function' ? next() : next;
    },
  };
  return { activities, sobres };
}

/** An attempt that ends when it is told to. */
function held(result: VerdictResult = ACCEPTED) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { attempt: () => promise.then(() => result), release: resolve };
}

const notYet = (): Promise<never> =>
  Promise.reject(ApplicationFailure.create({ type: 'NotYet', message: 'not yet', nextRetryDelay: 1 }));

describe('issueCfes', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const start = (cfeIds?: readonly string[]) => startIssueCfes(temporal, cfeIds);
  const details = (handle: WorkflowHandle, beginning: string) =>
    until(beginning, 10, async () => (await detailsOf(handle)).startsWith(beginning));
  const listed = (query: string, handle: WorkflowHandle) =>
    until(query, 20, async () => {
      for await (const { workflowId } of temporal.client.workflow.list({ query }))
        if (workflowId === handle.workflowId) return true;
      return false;
    });

  /** Runs one sobre to its end, keeps its history under `name`, and answers how it ended. */
  const runToEnd = (activities: Activities, name?: string, cfeIds?: readonly string[]) =>
    temporal.withWorkers(activities, async () => {
      const handle = await start(cfeIds);
      const result: unknown = await handle.result();
      if (name !== undefined) await recordHistory(handle, name);
      const { searchAttributes } = await handle.describe();
      const { events, text } = await historyOf(handle);
      return {
        handle,
        result,
        events,
        text,
        status: searchAttributes['CfeStatus'],
        details: await detailsOf(handle),
      };
    });

  test.each([
    ['ACCEPTED', [], 'Ended: ACCEPTED.'],
    ['OBSERVED', [], 'Ended: OBSERVED.'],
    ['REJECTED', ['E05', 'E03'], 'Ended: REJECTED (E05, E03).'],
  ] as const)('a CFE alone ends %s as a result, not as a failure', async (status, codes, words) => {
    const { activities, sobres } = attempts(ended({ '101-1': status }, [...codes]));

    const run = await runToEnd(activities, `issueCfes.${status.toLowerCase()}`);

    expect(run.result).toEqual({ '101-1': status });
    expect(run.status).toEqual([status]);
    expect(run.details).toBe(words);
    expect(sobres).toHaveLength(1);
    expect(run.handle.workflowId).toBe(`cfe:219999830019:101-1:${sobres[0]?.slice(0, 8)}`);
    expect(run.events).toBeLessThanOrEqual(MOST_EVENTS);
  });

  test('several end each in its way, and the list shows the worst', async () => {
    const endings = {
      '101-1': 'ACCEPTED',
      '101-2': 'REJECTED',
      '111-1': 'OBSERVED',
      '102-1': 'LEFT',
    } as const;

    const run = await runToEnd(
      attempts(ended(endings, ['E05'])).activities,
      'issueCfes.mixed',
      Object.keys(endings),
    );

    expect(run.result).toEqual(endings);
    expect(run.status).toEqual(['REJECTED']);
    expect(run.details).toBe('Ended: 1 REJECTED, 1 OBSERVED, 1 ACCEPTED, 1 LEFT (E05).');
    expect(run.handle.workflowId).toMatch(/^cfe:219999830019:101-1\+3:[\da-f]{8}$/);
  });

  test('all of them go on in another sobre: it ends, and tells no verdict', async () => {
    const run = await runToEnd(
      attempts(ended({ '101-1': 'LEFT', '101-2': 'LEFT' })).activities,
      'issueCfes.left',
      ['101-1', '101-2'],
    );

    expect(run.result).toEqual({ '101-1': 'LEFT', '101-2': 'LEFT' });
    expect(run.status).toEqual(['PENDING']);
    expect(run.details).toBe('Ended: 2 LEFT.');
  });

  test('a hundred make no more events than one, and each is found by its id', async () => {
    const endings = Object.fromEntries(HUNDRED.map((cfeId) => [cfeId, 'ACCEPTED' as const]));

    const run = await runToEnd(attempts(ended(endings)).activities, 'issueCfes.hundred', HUNDRED);

    expect(run.result).toEqual(endings);
    expect(run.events).toBeLessThanOrEqual(MOST_EVENTS);
    await listed('CfeId = "101-73" AND CfeStatus = "ACCEPTED"', run.handle);
  });

  test('however often the authority says "not yet", there are no more events', async () => {
    const { activities, sobres } = attempts(...Array.from({ length: 6 }, () => notYet), ACCEPTED);

    const { events } = await runToEnd(activities, 'issueCfes.undecidedThenAccepted');

    expect(sobres).toHaveLength(7);
    expect(events).toBeLessThanOrEqual(MOST_EVENTS);
  });

  test('a sobre that must wait for a slot parks without an attempt, and goes on each time it is given one', async () => {
    const { activities, sobres } = attempts({ kind: 'waits' }, { kind: 'waits' }, ACCEPTED);

    await temporal.withWorkers(activities, async () => {
      const handle = await start();
      for (const called of [1, 2]) {
        await details(handle, 'Waits for a slot');
        expect(sobres).toHaveLength(called);
        expect((await handle.describe()).raw.pendingActivities ?? []).toEqual([]);
        await handle.signal('slotGiven');
        await until('the next try', 10, async () => sobres.length > called);
      }
      expect(await handle.result()).toEqual({ '101-1': 'ACCEPTED' });
      await recordHistory(handle, 'issueCfes.waitedForItsTurn');
    });

    expect(new Set(sobres).size).toBe(1);
  });

  test('a call that comes while the step still runs is not lost', async () => {
    const first = held({ kind: 'waits' });
    const { activities, sobres } = attempts(first.attempt, ACCEPTED);

    await temporal.withWorkers(activities, async () => {
      const handle = await start();
      await until('the step', 10, async () => sobres.length > 0);
      await handle.signal('slotGiven');
      first.release();
      expect(await handle.result()).toEqual({ '101-1': 'ACCEPTED' });
      await recordHistory(handle, 'issueCfes.calledBeforeItWaited');
    });
  });

  test('an error that is no failure of ours leaves its text outside the history', async () => {
    const { activities } = attempts(
      () =>
        Promise.reject(
          Object.assign(new Error('Failing row contains (1220.00, <CFE xmlns=…, Almacén)'), {
            code: '23514',
            cause: new Error('detail: Almacén'),
          }),
        ),
      ACCEPTED,
    );

    const { text } = await runToEnd(activities);

    expect(text).toContain('Error 23514');
    expect(text).not.toMatch(/Failing row|Almacén|1220\.00|<CFE/);
  });

  test('a step that keeps failing by a mistake of ours says so until it goes on', async () => {
    const [first, second] = [held({ kind: 'waits' }), held()];
    const { activities, sobres } = attempts(first.attempt, second.attempt);

    await temporal.withWorkers(activities, async () => {
      const handle = await start();
      // What came before the step began would not be about it.
      await until('the step', 10, async () => sobres.length > 0);
      await handle.signal('stepFails');
      await details(handle, '### Our own code fails');
      await listed('NeedsSupport = true AND StuckReason = "internal"', handle);
      expect(await timersOf(handle)).toEqual([expect.stringMatching(/^Our own code fails/)]);
      await handle.signal('stepGoesOn');
      await details(handle, 'Continues: taking the sobre to its verdicts.');
      await handle.signal('stepFails');
      await details(handle, '### Our own code fails');
      // The end of the step clears it as well.
      first.release();
      await details(handle, 'Waits for a slot');
      await listed('NeedsSupport = false', handle);
      await handle.signal('slotGiven');
      second.release();
      expect(await handle.result()).toEqual({ '101-1': 'ACCEPTED' });
      expect(await timersOf(handle)).toEqual([]);
      await recordHistory(handle, 'issueCfes.failedByUs');
    });
  });

  test('Cancel does nothing: neither while a step runs nor while it waits for a slot', async () => {
    const first = held({ kind: 'waits' });
    const { activities, sobres } = attempts(first.attempt, ACCEPTED);

    await temporal.withWorkers(activities, async () => {
      const handle = await start();
      await until('the step', 10, async () => sobres.length > 0);
      await handle.cancel();
      await until('the request', 10, async () =>
        (await eventsOf(handle)).some(
          (event) => event.workflowExecutionCancelRequestedEventAttributes != null,
        ),
      );
      first.release();
      await details(handle, 'Waits for a slot');
      await handle.signal('slotGiven');
      expect(await handle.result()).toEqual({ '101-1': 'ACCEPTED' });
      await recordHistory(handle, 'issueCfes.cancelled');
    });

    expect(sobres).toHaveLength(2);
  });

  test('a run that was terminated is started again under its id, and takes the sobre on; one that ended is not', async () => {
    const lost = held();
    const { activities, sobres } = attempts(lost.attempt, ACCEPTED);
    const message = sobreMessage();

    await temporal.withWorkers(activities, async () => {
      const handle = await startIssueCfes(temporal, message);
      await until('the step', 10, async () => sobres.length > 0);
      await handle.terminate('by hand');
      lost.release();
      const again = await startIssueCfes(temporal, message);
      expect(await again.result()).toEqual({ '101-1': 'ACCEPTED' });
      await expect(startIssueCfes(temporal, message)).rejects.toMatchObject({
        name: 'WorkflowExecutionAlreadyStartedError',
      });
    });

    expect(sobres).toEqual([sobres[0], sobres[0]]);
  });

  test('a history that has become long is continued as a new one, with all that waits', async () => {
    const { activities, sobres } = attempts({ kind: 'waits' }, ACCEPTED);

    await temporal.withWorkers(activities, async () => {
      const handle = await start();
      await details(handle, 'Waits for a slot');
      // The server thinks four megabytes long.
      for (let i = 0; i < 4; i += 1) await handle.signal('unknown', 'x'.repeat(1_400_000));
      await handle.signal('slotGiven');
      const first = temporal.client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
      await until('the continuation', 20, async () =>
        (await eventsOf(first)).some((event) => event.workflowExecutionContinuedAsNewEventAttributes != null),
      );
      await recordHistory(first, 'issueCfes.continuedAsNew');
      await until('the next run', 20, async () => sobres.length === 2);
      expect(await handle.result()).toEqual({ '101-1': 'ACCEPTED' });
    });
  });
});
