import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSupportReport } from '../../src/activities/reports/supportReport.ts';
import type { PrepareReportResult } from '../../src/domain/authority/activityResults.ts';
import { type Cli, cliOn } from '../support/cli.ts';
import { anAccount, idleOutbox } from '../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../support/database/database.ts';
import { aReadyEnterprise } from '../support/enterprises/enterprises.ts';
import { reportAuthority } from '../support/reports/authority.ts';
import { storeSubmission } from '../support/reports/submission.ts';
import { historyOf, openTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

const DATE = '2026-03-10';

describe('report retry', () => {
  let temporal: TestTemporal;
  let db: TestDatabase;
  let cli: Cli;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'calls', 'reports');
    db = await cloneDatabase({ worker: true });
    cli = cliOn(db.urlOf('operator'), {
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
    });
  });
  afterAll(async () => {
    await temporal[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });

  test('asks the workflow of a stuck report, which audits who asked; one that goes on by itself is left alone', async () => {
    const rut = await aReadyEnterprise(db.orm, await anAccount(db.orm));
    const key = { rut, environment: 'production', date: DATE } as const;
    await storeSubmission(db.orm, key, { stuckReason: 'report.content' });
    let looks = 0;
    const activities = {
      async prepareReport(): Promise<PrepareReportResult> {
        looks += 1;
        return looks === 1
          ? { kind: 'stuck', reason: 'report.content', explanation: 'A branch is not registered.' }
          : { kind: 'ended', status: 'CONSISTENT' };
      },
      supportReport: createSupportReport({
        orm: db.worker,
        clock: () => new Date(),
        outbox: idleOutbox,
        client: reportAuthority().client,
        privateKeyOf: () => {
          throw new Error('nothing is asked for a retry');
        },
        patienceSeconds: 60,
      }),
    };
    await temporal.withWorkers(activities, async () => {
      const handle = await temporal.client.workflow.start('reportDay', {
        workflowId: `report:${rut}:${DATE}`,
        taskQueue: 'reports',
        args: [key],
      });
      await until('NeedsSupport', 30, async () => {
        const { searchAttributes } = await handle.describe();
        return searchAttributes['NeedsSupport']?.[0] === true || undefined;
      });
      const words = ['report', 'retry', rut, DATE, '--reason', 'branch registered', '--by', 'Ana Sur'];
      expect(await cli.json(...words)).toMatchObject({ outcome: 'retried', stuck_reason: null, date: DATE });
      expect(await handle.result()).toEqual({ status: 'CONSISTENT' });
      const { text } = await historyOf(handle);
      for (const personal of ['Ana Sur', 'branch registered']) expect(text).not.toContain(personal);
      expect(await cli.json(...words)).toMatchObject({ outcome: 'nothing_to_do' });
    });
    const rows = await cli.json<Record<string, unknown>[]>('audit', 'list', '--rut', rut);
    const act = { actor: 'cli:Ana Sur', action: 'report.retry', reason: 'branch registered', verified: true };
    // The last asked a run that has ended: nothing came of it.
    expect(rows).toMatchObject([
      { ...act, outcome: null },
      { ...act, outcome: 'retried' },
      { ...act, outcome: null },
    ]);
    const requests = rows.map(({ request_id }) => request_id);
    expect(requests).toEqual([requests[0], requests[0], expect.any(String)]);
    expect(requests[2]).not.toBe(requests[0]);
    expect(await cli.refusal('report', 'show', rut, '2026-03-11')).toMatchObject({ code: 'NOT_FOUND' });
  });
});
