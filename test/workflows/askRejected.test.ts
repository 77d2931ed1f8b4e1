import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSupport } from '../../src/wiring/temporal/askSupport.ts';
import { ensureSchedules } from '../../src/wiring/temporal/schedules.ts';
import { freePort } from '../support/processes/services.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

const COUNTS = { accepted: 1, annulled: 2, undecided: 30, unanswered: 4 };
const CFE = { rut: '219999830019', type: 'ETICKET', sequence: 7 } as const;
const REQUEST = { action: 'settle', requestId: 'request-1' } as const;

describe('askRejected', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi', 'calls');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  test('the schedule begins it once a day; it tells what came of asking', async () => {
    const { address, namespace, client } = temporal;
    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });
    const schedule = client.schedule.getHandle('rejected');
    const { info, policies } = await schedule.describe();
    expect(policies).toEqual(expect.objectContaining({ overlap: 'SKIP', catchupWindow: 86_400_000 }));
    // 09:20 in Montevideo.
    for (const moment of info.nextActionTimes) expect(moment.toISOString().slice(11)).toBe('12:20:00.000Z');

    const askRejected = async () => ({ kind: 'asked', ...COUNTS });
    await temporal.withWorkers({ askRejected }, async () => {
      await schedule.trigger();
      const workflowId = await until('the run', 20, async () => {
        const [run] = (await schedule.describe()).info.recentActions;
        return run?.action.workflow.workflowId;
      });
      const handle = client.workflow.getHandle(workflowId);
      expect(workflowId).toMatch(/^rejected-/);
      expect(await handle.result()).toEqual(COUNTS);
      expect((await historyOf(handle)).events).toBeLessThanOrEqual(11);
      await recordHistory(handle, 'askRejected.all');
    });
  });

  test('support has it asked about one CFE at once, one at a time', async () => {
    const { address, namespace, client } = temporal;
    const support = openSupport({ server: { address }, namespace });
    const cfe = { ...CFE, id: '0d9f6c1e-7c55-4b5e-9d0a-000000000001' };
    const acts: unknown[] = [];
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const supportCfe = async (act: unknown) => {
      acts.push(act);
      await gate;
      return { kind: 'settled', message: 'The authority has accepted it since.' };
    };
    try {
      await temporal.withWorkers({ supportCfe }, async () => {
        const first = support.askRejected(cfe, REQUEST);
        await until('the first', 20, async () => acts.length > 0);
        expect(await support.askRejected(cfe, REQUEST)).toEqual({
          outcome: 'refused',
          message: 'Another action of support is in progress on this receipt.',
          why: { code: 'under_way' },
        });
        release();
        expect(await first).toEqual({
          outcome: 'settled',
          message: 'The authority has accepted it since.',
        });
        expect(acts).toEqual([{ ...REQUEST, cfeUuid: cfe.id }]);
        const handle = client.workflow.getHandle('rejected:219999830019:101-7:0d9f6c1e');
        await recordHistory(handle, 'askRejected.one');
        expect(await support.askRejected(cfe, REQUEST)).toMatchObject({ outcome: 'settled' });
      });
    } finally {
      await support.close();
    }
  });

  test('without a Temporal server support is told so', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const support = openSupport({ server: { address }, namespace: 'default' });
    try {
      await expect(support.askRejected({ ...CFE, id: randomUUID() }, REQUEST)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: 'Temporal cannot be reached.',
      });
    } finally {
      await support.close();
    }
  });
});
