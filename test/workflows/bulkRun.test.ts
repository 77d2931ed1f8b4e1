import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { RunResult } from '../../src/domain/authority/activityResults.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

const TOTAL = 120;

describe('bulkRun', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const start = (runId: string): Promise<WorkflowHandle> =>
    temporal.client.workflow.start('bulkRun', {
      workflowId: `run:${runId}`,
      taskQueue: 'cfe',
      args: [{ runId }],
      searchAttributes: { EnterpriseRut: ['219999830019'] },
    });

  /** A run of 120 things, `batch` at a time; `stopAfter`: somebody stops it once so many are done. */
  function aRun({
    batch,
    stopAfter = TOTAL,
    pause = 5,
  }: {
    batch: number;
    stopAfter?: number;
    pause?: number;
  }) {
    const run = { done: 0, batches: 0, stops: 0 };
    const counts = () => ({ total: TOTAL, done: run.done, unneeded: 0, refused: 0 });
    const actOnItems = async (): Promise<RunResult> => {
      run.batches += 1;
      run.done = Math.min(TOTAL, run.done + batch);
      if (run.done >= stopAfter)
        return { kind: 'ended', state: run.done === TOTAL ? 'DONE' : 'STOPPED', ...counts() };
      return { kind: 'goesOn', ...counts(), pauseMilliseconds: pause };
    };
    const stopItems = async (): Promise<RunResult> => {
      run.stops += 1;
      return { kind: 'ended', state: 'STOPPED', ...counts() };
    };
    return { run, activities: { actOnItems, stopItems } };
  }

  test.each([
    ['done', { batch: 50 }, 'DONE', TOTAL, 3],
    ['stopped', { batch: 50, stopAfter: 100 }, 'STOPPED', 100, 2],
  ] as const)(
    '%s: batch after batch, until its rows say that it has ended',
    async (name, wish, state, done, batches) => {
      const { run, activities } = aRun(wish);

      await temporal.withWorkers(activities, async () => {
        const handle = await start(`retry-2026-11-22-${name}`);
        expect(await handle.result()).toEqual({ state, total: TOTAL, done, unneeded: 0, refused: 0 });
        const { text } = await historyOf(handle);
        expect(text).not.toMatch(/<CFE|@[a-z]+\.(com|uy|example)/);
        await recordHistory(handle, `bulkRun.${name}`);
      });

      expect(run.batches).toBe(batches);
    },
  );

  test('cancelled in the Temporal UI: its rows are ended too, and it ends STOPPED', async () => {
    const { run, activities } = aRun({ batch: 50, pause: 3_600_000 });

    await temporal.withWorkers(activities, async () => {
      const handle = await start('settle-2026-11-22-cancelled');
      await until(
        'its pause',
        30,
        async () => (await historyOf(handle)).text.includes('TIMER_STARTED') || undefined,
      );
      await handle.cancel();
      expect(await handle.result()).toMatchObject({ state: 'STOPPED', done: 50 });
      await recordHistory(handle, 'bulkRun.cancelled');
    });

    expect(run).toMatchObject({ batches: 1, stops: 1 });
  });

  test('a long one goes on as a new run under its id, with a short history and what it is found by', async () => {
    const { run, activities } = aRun({ batch: 0, stopAfter: 1, pause: 0 });
    let batches = 0;
    const actOnItems = async (): Promise<RunResult> => {
      batches += 1;
      if (batches === 400) run.done = TOTAL;
      return activities.actOnItems();
    };

    await temporal.withWorkers({ ...activities, actOnItems }, async () => {
      const first = await start('redeliver-2026-11-22-long');
      expect(await first.result()).toMatchObject({ state: 'DONE', done: TOTAL });
      const latest = temporal.client.workflow.getHandle('run:redeliver-2026-11-22-long');
      const { runId, searchAttributes, historyLength } = await latest.describe();
      expect(historyLength).toBeLessThan(2_100);
      expect(searchAttributes).toMatchObject({ EnterpriseRut: ['219999830019'] });
      const before = temporal.client.workflow.getHandle(
        'run:redeliver-2026-11-22-long',
        (first as unknown as { firstExecutionRunId: string }).firstExecutionRunId,
      );
      const description = await before.describe();
      expect(description.runId).not.toBe(runId);
      expect(description.status.name).toBe('CONTINUED_AS_NEW');
      expect(description.historyLength).toBeLessThan(2_100);
    });
  });
});
