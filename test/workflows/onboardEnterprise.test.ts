import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ReadinessResult } from '../../src/domain/authority/activityResults.ts';
import { openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

describe('onboardEnterprise', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const start = (rut: string) =>
    temporal.client.workflow.start('onboardEnterprise', {
      workflowId: `enterprise:${rut}`,
      taskQueue: 'cfe',
      args: [{ rut }],
    });

  test('looks again when a fact changes, and ends when the enterprise is READY', async () => {
    const answers: ReadinessResult[] = [
      { kind: 'lacking', lacking: ['a plan'], dueInMilliseconds: null },
      { kind: 'ready' },
    ];
    let looked = 0;
    const makeReadyWhenComplete = async () => answers[Math.min(looked++, 1)] as ReadinessResult;

    await temporal.withWorkers({ makeReadyWhenComplete }, async () => {
      const handle = await start('219999830019');
      await until('the first look', 10, async () => looked === 1 || undefined);
      await handle.signal('factsChanged');
      expect(await handle.result()).toEqual({ status: 'READY' });
      await recordHistory(handle, 'onboardEnterprise.readyAfterChange');
    });

    expect(looked).toBe(2);
  });

  test('wakes by itself when the scheduled date comes, while nobody calls', async () => {
    let looked = 0;
    const makeReadyWhenComplete = async (): Promise<ReadinessResult> => {
      looked += 1;
      return looked === 1
        ? { kind: 'lacking', lacking: ['a scheduled_ready_date in the past'], dueInMilliseconds: 300 }
        : { kind: 'ready' };
    };

    await temporal.withWorkers({ makeReadyWhenComplete }, async () => {
      const handle = await start('214844360018');
      await handle.result();
      await recordHistory(handle, 'onboardEnterprise.readyByDate');
    });

    expect(looked).toBe(2);
  });

  test('whose facts change all the time goes on as a new run, with a short history', async () => {
    const rut = '210000000012';
    const handle = temporal.client.workflow.getHandle(`enterprise:${rut}`);
    let looked = 0;
    const makeReadyWhenComplete = async (): Promise<ReadinessResult> => {
      looked += 1;
      if (looked === 320) return { kind: 'ready' };
      await handle.signal('factsChanged');
      return { kind: 'lacking', lacking: ['a plan'], dueInMilliseconds: null };
    };

    await temporal.withWorkers({ makeReadyWhenComplete }, async () => {
      const first = await start(rut);
      expect(await first.result()).toEqual({ status: 'READY' });
      const latest = await handle.describe();
      expect(latest.historyLength).toBeLessThan(2_000);
      expect(latest.runId).not.toBe(first.firstExecutionRunId);
    });
  });
});
