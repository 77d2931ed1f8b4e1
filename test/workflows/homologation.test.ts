import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { TestReceiptsResult, TestReportResult } from '../../src/domain/authority/activityResults.ts';
import type { TestRunStatus } from '../../src/domain/enterprises/homologation.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

const TOTAL = 100;
const RUT = '219999830019';

describe('homologation', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const start = (date: string): Promise<WorkflowHandle> =>
    temporal.client.workflow.start('homologation', {
      workflowId: `homologation:${RUT}:${date}`,
      taskQueue: 'cfe',
      args: [{ rut: RUT, date }],
      searchAttributes: { EnterpriseRut: [RUT] },
    });

  /** A run of 100 receipts, 40 at a time; `ends`: how it ends once so many are received. */
  function aRun({ ends = null }: { ends?: { after: number; status: TestRunStatus } | null } = {}) {
    const run = { received: 0, looks: 0, stops: 0, status: 'RUNNING' as TestRunStatus };
    const issueTestReceipts = async (): Promise<TestReceiptsResult> => {
      run.looks += 1;
      if (run.status !== 'RUNNING') return { kind: 'ended', status: run.status };
      if (run.received === TOTAL) return { kind: 'reports', received: TOTAL, rejected: 0 };
      run.received = Math.min(TOTAL, run.received + 40);
      if (ends !== null && run.received >= ends.after) run.status = ends.status;
      const counts = { wanted: TOTAL, received: run.received, rejected: 0 };
      return { kind: 'goesOn', ...counts, canIssue: run.received < 80 };
    };
    const reports = { looks: 0 };
    const reportTestRun = async (): Promise<TestReportResult> => {
      reports.looks += 1;
      if (reports.looks < 3) return { kind: 'waits' };
      run.status = 'READY_TO_PROCESS';
      return { kind: 'ended', status: run.status };
    };
    const stopTestRun = async (): Promise<TestReportResult & { kind: 'ended' }> => {
      run.stops += 1;
      run.status = 'STOPPED';
      return { kind: 'ended', status: run.status };
    };
    return { run, reports, activities: { issueTestReceipts, reportTestRun, stopTestRun } };
  }

  test('ready: batch after batch, then the report; the history holds ids, counts and enums', async () => {
    const { run, reports, activities } = aRun();

    await temporal.withWorkers(activities, async () => {
      const handle = await start('2026-11-20');
      expect(await handle.result()).toEqual({ status: 'READY_TO_PROCESS' });
      const { text } = await historyOf(handle);
      expect(text).not.toMatch(/<CFE|amount|legal_name/);
      await recordHistory(handle, 'homologation.ready');
    });

    expect(run.received).toBe(TOTAL);
    expect(reports.looks).toBe(3);
  });

  test.each([
    ['failed', 'FAILED', '2026-11-21'],
    ['stopped', 'STOPPED', '2026-11-22'],
  ] as const)('%s: it ends as its row says, without a report', async (name, status, date) => {
    const { reports, activities } = aRun({ ends: { after: 80, status } });

    await temporal.withWorkers(activities, async () => {
      const handle = await start(date);
      expect(await handle.result()).toEqual({ status });
      await recordHistory(handle, `homologation.${name}`);
    });

    expect(reports.looks).toBe(0);
  });

  test('a run that is started while the one before ends is continued', async () => {
    const { run, activities } = aRun({ ends: { after: 80, status: 'STOPPED' } });
    let signalled = false;
    const issueTestReceipts = async (): Promise<TestReceiptsResult> => {
      const result = await activities.issueTestReceipts();
      if (result.kind === 'ended' && !signalled) {
        signalled = true;
        // The row of the next run comes with its signal, while this attempt has read the row before.
        await temporal.client.workflow.getHandle(`homologation:${RUT}:2026-11-23`).signal('lookAgain');
        run.status = 'READY_TO_PROCESS';
      }
      return result;
    };

    await temporal.withWorkers({ ...activities, issueTestReceipts }, async () => {
      const handle = await start('2026-11-23');
      expect(await handle.result()).toEqual({ status: 'READY_TO_PROCESS' });
      await recordHistory(handle, 'homologation.startedAgain');
    });
  });

  test('cancelled in the Temporal UI: the run is stopped', async () => {
    const { run, activities } = aRun();
    let free = (): void => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    const issueTestReceipts = async (): Promise<TestReceiptsResult> => {
      await held;
      return activities.issueTestReceipts();
    };

    await temporal.withWorkers({ ...activities, issueTestReceipts }, async () => {
      const handle = await start('2026-11-24');
      const shows = (event: string) => async () =>
        (await historyOf(handle)).text.includes(event) || undefined;
      await until('its activity', 30, shows('ACTIVITY_TASK_SCHEDULED'));
      await handle.cancel();
      await until('the request', 30, shows('ACTIVITY_TASK_CANCEL_REQUESTED'));
      expect(run.stops).toBe(0);
      free();
      expect(await handle.result()).toEqual({ status: 'STOPPED' });
      await recordHistory(handle, 'homologation.cancelled');
    });

    expect(run.stops).toBe(1);
  });

  test('a long one continues as a new run under its id, with a short history', async () => {
    const { run, activities } = aRun();
    const issueTestReceipts = async (): Promise<TestReceiptsResult> => {
      if (run.looks >= 400) run.status = 'FAILED';
      run.looks += 1;
      if (run.status === 'FAILED') return { kind: 'ended', status: 'FAILED' };
      return { kind: 'goesOn', wanted: TOTAL, received: 0, rejected: 0, canIssue: true };
    };

    await temporal.withWorkers({ ...activities, issueTestReceipts }, async () => {
      const handle = await start('2026-11-25');
      expect(await handle.result()).toEqual({ status: 'FAILED' });
      const last = temporal.client.workflow.getHandle(`homologation:${RUT}:2026-11-25`);
      const { historyLength, searchAttributes } = await last.describe();
      expect(historyLength).toBeLessThan(2_100);
      expect(searchAttributes).toMatchObject({ EnterpriseRut: [RUT], State: ['FAILED'] });
    });
  });
});
