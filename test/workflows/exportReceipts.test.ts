import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { ExportResult } from '../../src/domain/authority/activityResults.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

const TOTAL = 250;

describe('exportReceipts', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('exports');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const start = (exportId: string): Promise<WorkflowHandle> =>
    temporal.client.workflow.start('exportReceipts', {
      workflowId: `export:${exportId}`,
      taskQueue: 'exports',
      args: [{ exportId }],
      searchAttributes: { EnterpriseRut: ['219999830019'] },
    });

  /** A file of 250 receipts, `turn` at a time; `stopAfter`: somebody stops it once so many are in it. */
  function aFile({ turn, stopAfter = TOTAL }: { turn: number; stopAfter?: number }) {
    const file = { done: 0, turns: 0, stops: 0 };
    const counts = () => ({ total: TOTAL, done: file.done, leftOut: 1 });
    const writeExport = async (): Promise<ExportResult> => {
      file.turns += 1;
      file.done = Math.min(TOTAL, file.done + turn);
      if (file.done < stopAfter) return { kind: 'goesOn', ...counts() };
      return { kind: 'ended', state: file.done === TOTAL ? 'DONE' : 'STOPPED', ...counts() };
    };
    const stopExport = async (): Promise<ExportResult> => {
      file.stops += 1;
      return { kind: 'ended', state: 'STOPPED', ...counts() };
    };
    return { file, activities: { writeExport, stopExport } };
  }

  test.each([
    ['done', { turn: 100 }, 'DONE', TOTAL, 3],
    ['stopped', { turn: 100, stopAfter: 200 }, 'STOPPED', 200, 2],
  ] as const)(
    '%s: turn after turn, until its row says that it has ended; the history holds ids and counts',
    async (name, wish, state, done, turns) => {
      const { file, activities } = aFile(wish);

      await temporal.withWorkers(activities, async () => {
        const handle = await start(`219999830019-2026-11-${name}`);
        expect(await handle.result()).toEqual({ state, total: TOTAL, done, leftOut: 1 });
        const { text } = await historyOf(handle);
        expect(text).not.toMatch(/<CFE|@[a-z]+\.(com|uy|example)/);
        await recordHistory(handle, `exportReceipts.${name}`);
      });

      expect(file.turns).toBe(turns);
    },
  );

  test('cancelled in the Temporal UI: the file is given up, and it ends STOPPED', async () => {
    const { file, activities } = aFile({ turn: 100 });
    let free = (): void => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    const writeExport = async (): Promise<ExportResult> => {
      await held;
      return activities.writeExport();
    };

    await temporal.withWorkers({ ...activities, writeExport }, async () => {
      const handle = await start('219999830019-sandbox-2026-11-cancelled');
      const scheduled = async () =>
        (await historyOf(handle)).text.includes('ACTIVITY_TASK_SCHEDULED') || undefined;
      await until('its activity', 30, scheduled);
      await handle.cancel();
      await until(
        'the request',
        30,
        async () => (await historyOf(handle)).text.includes('ACTIVITY_TASK_CANCEL_REQUESTED') || undefined,
      );
      expect(file.stops).toBe(0);
      free();
      expect(await handle.result()).toMatchObject({ state: 'STOPPED' });
      await recordHistory(handle, 'exportReceipts.cancelled');
    });

    expect(file.stops).toBe(1);
  });

  test('a long one goes on as a new run under its id, with a short history', async () => {
    const { file, activities } = aFile({ turn: 0 });
    const writeExport = async (): Promise<ExportResult> => {
      if (file.turns === 400) file.done = TOTAL;
      return activities.writeExport();
    };

    await temporal.withWorkers({ ...activities, writeExport }, async () => {
      const id = '219999830019-2026-11-long';
      const first = await start(id);
      expect(await first.result()).toMatchObject({ state: 'DONE', done: TOTAL });
      const { historyLength, searchAttributes } = await temporal.client.workflow
        .getHandle(`export:${id}`)
        .describe();
      expect(historyLength).toBeLessThan(2_100);
      expect(searchAttributes).toMatchObject({ EnterpriseRut: ['219999830019'] });
    });

    expect(file.turns).toBe(401);
  });
});
