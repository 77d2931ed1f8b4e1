import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Activities } from '../../src/activities/activities.ts';
import { ensureSchedules } from '../../src/wiring/temporal/schedules.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await openTemporal('cfe', 'calls');
});
afterAll(() => temporal[Symbol.asyncDispose]());

describe('exchangeCfe', () => {
  test.each(['onItsWay', 'notElectronic', 'noAddress'] as const)('ends %s', async (kind) => {
    const asked: string[] = [];
    const prepareExchange: Activities['prepareExchange'] = async (cfeUuid) => {
      asked.push(cfeUuid);
      if (asked.length === 1) throw new Error('the database is away');
      return { kind };
    };
    await temporal.withWorkers({ prepareExchange }, async () => {
      const handle = await temporal.client.workflow.start('exchangeCfe', {
        workflowId: `exchange:219999830019:111-1:${kind}`,
        taskQueue: 'cfe',
        args: [{ cfeUuid: kind }],
      });
      expect(await handle.result()).toEqual({ result: kind });
      expect(asked).toEqual([kind, kind]);
      const { events, text } = await historyOf(handle);
      expect(events).toBeLessThanOrEqual(11);
      expect(text).not.toMatch(/@[a-z]+\.(com|uy|example)|<CFE/);
      await recordHistory(handle, `exchangeCfe.${kind}`);
    });
  });
});

describe('loadDirectory', () => {
  test('is begun once a day; ends with how many entries came', async () => {
    const { address, namespace, client } = temporal;
    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });
    const schedule = client.schedule.getHandle('directory');
    const { info, policies } = await schedule.describe();
    expect(policies).toEqual(expect.objectContaining({ overlap: 'SKIP', catchupWindow: 86_400_000 }));
    const [first, second] = info.nextActionTimes.map((moment) => moment.getTime());
    expect((second ?? 0) - (first ?? 0)).toBe(86_400_000);

    const loadDirectory: Activities['loadDirectory'] = async () => ({ kind: 'loaded', entries: 7 });
    await temporal.withWorkers({ loadDirectory }, async () => {
      await schedule.trigger();
      const workflowId = await until('the run', 20, async () => {
        const [run] = (await schedule.describe()).info.recentActions;
        return run?.action.workflow.workflowId;
      });
      const handle = client.workflow.getHandle(workflowId);
      expect(workflowId).toMatch(/^directory-/);
      expect(await handle.result()).toEqual({ entries: 7 });
      expect((await historyOf(handle)).events).toBeLessThanOrEqual(11);
      await recordHistory(handle, 'loadDirectory.loaded');
    });
  });

  test('ends without any where nobody is there to ask with', async () => {
    const loadDirectory: Activities['loadDirectory'] = async () => ({ kind: 'nobodyToAsk' });
    await temporal.withWorkers({ loadDirectory }, async () => {
      const handle = await temporal.client.workflow.start('loadDirectory', {
        workflowId: 'directory-by-hand',
        taskQueue: 'cfe',
        args: [],
      });
      expect(await handle.result()).toEqual({ entries: null });
      await recordHistory(handle, 'loadDirectory.nobodyToAsk');
    });
  });
});
