import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Readiness } from '../../src/activities/enterprises.ts';
import { openTemporal, recordHistory, type TestTemporal } from '../support/temporal.ts';
import { until } from '../support/until.ts';

describe('onboardEnterprise', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal();
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const start = (rut: string) =>
    temporal.client.workflow.start('onboardEnterprise', {
      workflowId: `enterprise:${rut}`,
      taskQueue: 'cfe',
      args: [{ rut }],
    });

  test('looks again when a fact changes, and ends when the enterprise is READY', async () => {
    const answers: Readiness[] = [
      { ready: false, lacking: ['a plan'], dueInMilliseconds: null },
      { ready: true, lacking: [], dueInMilliseconds: null },
    ];
    let looked = 0;
    const makeReadyWhenComplete = async () => answers[Math.min(looked++, 1)] as Readiness;

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
    const makeReadyWhenComplete = async (): Promise<Readiness> => {
      looked += 1;
      return looked === 1
        ? { ready: false, lacking: ['a scheduled_ready_date that has come'], dueInMilliseconds: 300 }
        : { ready: true, lacking: [], dueInMilliseconds: null };
    };

    await temporal.withWorkers({ makeReadyWhenComplete }, async () => {
      const handle = await start('214844360018');
      await handle.result();
      await recordHistory(handle, 'onboardEnterprise.readyByDate');
    });

    expect(looked).toBe(2);
  });
});
