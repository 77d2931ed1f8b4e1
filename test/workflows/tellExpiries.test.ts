import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ensureSchedules } from '../../src/wiring/temporal/schedules.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

describe('tellExpiries', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  test('workers that start together make each schedule once; that of this workflow begins it every hour, first just after midnight', async () => {
    const { address, namespace, client } = temporal;
    await Promise.all([
      ensureSchedules({ address }, namespace, { reportsAt: '02:00' }),
      ensureSchedules({ address }, namespace, { reportsAt: '02:00' }),
    ]);
    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });

    const ids: string[] = [];
    // The list follows the schedules with a delay.
    await until('the schedule in the list', 20, async () => {
      ids.length = 0;
      for await (const { scheduleId } of client.schedule.list()) ids.push(scheduleId);
      return ids.length > 5 || undefined;
    });
    expect(ids.sort()).toEqual(['daily-reports', 'directory', 'expiries', 'purge', 'recover', 'rejected']);
    const schedule = client.schedule.getHandle('expiries');
    const { info, policies } = await schedule.describe();
    expect(policies).toEqual(expect.objectContaining({ overlap: 'SKIP', catchupWindow: 86_400_000 }));
    expect(info.nextActionTimes.length).toBeGreaterThan(1);
    for (const moment of info.nextActionTimes) expect(moment.toISOString().slice(14)).toBe('05:00.000Z');

    await temporal.withWorkers(
      { recordExpiries: async () => ({ kind: 'told', enterprises: 3 }) },
      async () => {
        await schedule.trigger();
        const workflowId = await until('the run', 20, async () => {
          const [run] = (await schedule.describe()).info.recentActions;
          return run?.action.workflow.workflowId;
        });
        const handle = client.workflow.getHandle(workflowId);
        expect(workflowId).toMatch(/^expiries-/);
        expect(await handle.result()).toEqual({ told: 3 });
        expect((await historyOf(handle)).events).toBeLessThanOrEqual(11);
        await recordHistory(handle, 'tellExpiries.told');
      },
    );
  });

  test('times that an operator has set stay', async () => {
    const { address, namespace, client } = temporal;
    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });
    const schedule = client.schedule.getHandle('expiries');
    const daily = {
      calendars: [{ hour: 0, minute: 5, comment: 'As the operator wants it' }],
      timezone: 'America/Montevideo',
    };
    const times = async () =>
      (await schedule.describe()).info.nextActionTimes.map((at) => at.toISOString().slice(11, 16));

    await schedule.update((found) => ({ ...found, spec: daily }));
    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });
    expect(new Set(await times())).toEqual(new Set(['03:05']));
  });

  test('another CFE_REPORT_AT moves the night’s run, unless an operator has set its time', async () => {
    const { address, namespace, client } = temporal;
    const schedule = client.schedule.getHandle('daily-reports');
    const times = async () => [
      ...new Set(
        (await schedule.describe()).info.nextActionTimes.map((at) => at.toISOString().slice(11, 16)),
      ),
    ];
    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });
    expect(await times()).toEqual(['05:00']);
    await ensureSchedules({ address }, namespace, { reportsAt: '03:30' });
    expect(await times()).toEqual(['06:30']);
    const own = { calendars: [{ hour: 1, minute: 0, comment: 'Early' }], timezone: 'America/Montevideo' };
    await schedule.update((found) => ({ ...found, spec: own }));
    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });
    expect(await times()).toEqual(['04:00']);
  });

  test('a schedule that an operator has paused stays paused when workers start', async () => {
    const { address, namespace, client } = temporal;
    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });
    await client.schedule.getHandle('expiries').pause('migrating');

    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });

    expect((await client.schedule.getHandle('expiries').describe()).state.paused).toBe(true);
  });
});
