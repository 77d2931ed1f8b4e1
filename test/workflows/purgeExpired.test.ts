import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Purged } from '../../src/domain/operations/retention.ts';
import { ensureSchedules } from '../../src/wiring/temporal/schedules.ts';
import { historyOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

const ROWS: Purged = {
  outbox: 3_000,
  delivery_attempt: 12,
  mail_attempt: 4,
  event: 4,
  run_item: 5,
  receipt_export_part: 2,
  idempotent_answer: 0,
  request_count: 1,
  failed_authentication: 2,
  sign_in_count: 6,
  form_count: 7,
  console_session: 8,
  daily_count: 3,
  mail_bounce: 2,
  account_invitation: 1,
  invitation: 0,
  certificate: 1,
  authority_attempt: 5,
};

describe('purgeExpired', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  test('the schedule begins it every hour; it tells how much went, and what failed is done once more', async () => {
    const { address, namespace, client } = temporal;
    await ensureSchedules({ address }, namespace, { reportsAt: '02:00' });
    const schedule = client.schedule.getHandle('purge');
    const { info, policies } = await schedule.describe();
    expect(policies).toEqual(expect.objectContaining({ overlap: 'SKIP', catchupWindow: 3_600_000 }));
    const [first, second] = info.nextActionTimes.map((moment) => moment.getTime());
    expect((second ?? 0) - (first ?? 0)).toBe(3_600_000);

    let tries = 0;
    const deleteExpired = async () => {
      tries += 1;
      if (tries === 1) throw new Error('the database is away');
      return { kind: 'purged', rows: ROWS };
    };
    await temporal.withWorkers({ deleteExpired }, async () => {
      await schedule.trigger();
      const workflowId = await until('the run', 20, async () => {
        const [run] = (await schedule.describe()).info.recentActions;
        return run?.action.workflow.workflowId;
      });
      const handle = client.workflow.getHandle(workflowId);
      expect(workflowId).toMatch(/^purge-/);
      expect(await handle.result()).toEqual(ROWS);
      expect((await historyOf(handle)).events).toBeLessThanOrEqual(11);
      await recordHistory(handle, 'purgeExpired.purged');
    });
    expect(tries).toBe(2);
  });
});
