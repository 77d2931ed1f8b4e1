import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { Authority } from '../../src/activities/authority/authority.ts';
import { createTakeToVerdict } from '../../src/activities/authority/takeToVerdict.ts';
import { issueCfesMessage } from '../../src/db/authority/sobres.ts';
import { Cfe } from '../../src/db/entities/receipts.ts';
import { formatCfeId } from '../../src/domain/receipts/cfeId.ts';
import { anAccount } from '../support/commandDeps.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { SILENT, saying, sobreRow, takeDeps } from '../support/database/taking.ts';
import { aReadyEnterprise } from '../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../support/receipts/pendingCfes.ts';
import {
  openTemporal,
  recordHistory,
  startIssueCfes,
  type TestTemporal,
} from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

/** One run of each workflow that something was promised by, and what it does. */
const RUNS = {
  exchangeCfe: { input: { cfeUuid: 'one' }, activity: 'prepareExchange', answer: { kind: 'notElectronic' } },
  checkCaeStart: {
    input: { caeId: 'one' },
    activity: 'checkCaeStart',
    answer: { kind: 'ended', findings: [] },
  },
  reportDay: {
    input: { rut: '219999830019', environment: 'production', date: '2026-11-20' },
    activity: 'prepareReport',
    answer: { kind: 'ended', status: 'CONSISTENT' },
  },
  deliverWebhook: {
    input: { deliveryId: 'one', delays: [] },
    activity: 'attemptDelivery',
    answer: { kind: 'delivered' },
  },
  deliverReceipt: { input: { mailId: 'one', delays: [] }, activity: 'attemptMail', answer: { kind: 'sent' } },
  onboardEnterprise: {
    input: { rut: '219999830019' },
    activity: 'makeReadyWhenComplete',
    answer: { kind: 'ready' },
  },
  validateCredentials: {
    input: { rut: '219999830019' },
    activity: 'validateLogin',
    answer: { kind: 'checked', result: 'success' },
  },
} as const;
type Name = keyof typeof RUNS;

describe('what an operator presses in the Temporal UI', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi', 'calls', 'webhooks', 'mail', 'reports');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  /** Runs the workflow, whose activity hangs until `press` is through. */
  async function whilePressed(name: Name, press: (handle: WorkflowHandle) => Promise<WorkflowHandle>) {
    const { input, activity, answer } = RUNS[name];
    const pressed = Promise.withResolvers<void>();
    let begun = 0;
    const hangs = async () => {
      begun += 1;
      await pressed.promise;
      return answer;
    };
    return temporal.withWorkers({ [activity]: hangs }, async () => {
      const handle = await temporal.client.workflow.start(name, {
        workflowId: `${name}:${press.name}`,
        taskQueue: 'cfe',
        args: [input],
      });
      await until('the activity', 20, async () => begun > 0);
      const following = await press(handle);
      pressed.resolve();
      await following.result();
      return following;
    });
  }

  test.each(Object.keys(RUNS) as Name[])('Cancel: %s goes on to its end, and says so', async (name) => {
    let details = '';
    const handle = await whilePressed(name, async function cancel(run) {
      await run.cancel();
      details = await until('its details', 20, async () => {
        const text = await run.query<string>('__temporal_workflow_metadata').then(JSON.stringify);
        return text.includes('Cancel has no effect') ? text : undefined;
      });
      return run;
    });

    expect((await handle.describe()).status.name).toBe('COMPLETED');
    expect(details).toContain('the promised work is done');
    await recordHistory(handle, `${name}.cancelledInVain`);
  });

  test.each(['exchangeCfe', 'reportDay'] as const)('Reset: %s does it once more', async (name) => {
    const handle = await whilePressed(name, async function reset(run) {
      return resetToItsBeginning(run);
    });

    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });

  test('Reset: issueCfes sends nothing a second time and loses no CFE, amid its send and after its end', async () => {
    await using db = await cloneDatabase({ worker: true });
    const accountId = await anAccount(db.orm);
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    const cfes = await givePendingCfes(db.orm, { accountId, rut, count: 3, from: new Date() });
    const sobreId = await aSobreOf(db.orm, cfes);
    const received = { kind: 'received', idReceptor: '7', token: 'dG9rZW4=', askFrom: null } as const;
    const answered = Promise.withResolvers<void>();
    const calls: string[] = [];
    const called = <T>(name: string, answer: T): T => {
      calls.push(name);
      return answer;
    };
    const ask = saying(new Map(), { kind: 'verdict', status: 'ACCEPTED', reasons: [] });
    const authority: Authority = {
      ...SILENT,
      sendSobre: () =>
        called(
          'send',
          answered.promise.then(() => received),
        ),
      findSobre: async () => called('find', received),
      askVerdicts: (...asked) => called('ask', ask(...asked)),
    };
    const take = createTakeToVerdict(takeDeps(db.worker, { authority }));
    let over = 0;
    const takeToVerdict: typeof take = (...input) => take(...input).finally(() => (over += 1));
    const named = cfes.map((cfe) => ({ type: cfe.type, cfeId: formatCfeId(cfe) }));
    const endings = Object.fromEntries(named.map(({ cfeId }) => [cfeId, 'ACCEPTED']));

    await temporal.withWorkers({ takeToVerdict }, async () => {
      // However it ends, no send is left hanging.
      await using _ = { [Symbol.asyncDispose]: async () => answered.resolve() };
      const message = issueCfesMessage(await sobreRow(db.orm, sobreId), named);
      const first = await startIssueCfes(temporal, message);
      await until('the send', 20, async () => calls.length > 0);

      const second = await resetToItsBeginning(first);
      expect(await second.result()).toEqual(endings);
      // The first attempt, of which the server wants to hear no more, has its answer now.
      answered.resolve();
      await until('both attempts to end', 20, async () => over === 2);
      expect(calls).toEqual(['send', 'find', 'ask']);

      const third = await resetToItsBeginning(second);
      expect(await third.result()).toEqual(endings);
      expect([over, calls]).toEqual([3, ['send', 'find', 'ask']]);
    });

    expect(await db.orm.em.fork().count(Cfe, { sobreId, status: 'ACCEPTED', stuckReason: null })).toBe(3);
  });

  async function resetToItsBeginning(run: WorkflowHandle): Promise<WorkflowHandle> {
    const { runId } = await run.describe();
    await temporal.client.workflowService.resetWorkflowExecution({
      namespace: temporal.namespace,
      workflowExecution: { workflowId: run.workflowId, runId },
      // That of the first workflow task's beginning.
      workflowTaskFinishEventId: 3 as never,
      requestId: `reset-${runId}`,
      reason: 'by the test',
    });
    return temporal.client.workflow.getHandle(run.workflowId);
  }
});
