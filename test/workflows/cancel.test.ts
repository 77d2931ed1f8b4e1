import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { openTemporal, recordHistory, type TestTemporal } from '../support/temporal.ts';
import { until } from '../support/until.ts';

/** One run of each workflow that something was promised by, and what it does. */
const RUNS = {
  exchangeCfe: { input: { cfeUuid: 'one' }, activity: 'prepareExchange', answer: { kind: 'notElectronic' } },
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
    temporal = await openTemporal('cfe', 'calls', 'webhooks', 'mail', 'reports');
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
        return text.includes('Cancel does nothing') ? text : undefined;
      });
      return run;
    });

    expect((await handle.describe()).status.name).toBe('COMPLETED');
    expect(details).toContain('what is promised is done');
    await recordHistory(handle, `${name}.cancelledInVain`);
  });

  test.each(['exchangeCfe', 'reportDay'] as const)('Reset: %s does it once more', async (name) => {
    const handle = await whilePressed(name, async function reset(run) {
      const { runId } = await run.describe();
      await temporal.client.workflowService.resetWorkflowExecution({
        namespace: temporal.namespace,
        workflowExecution: { workflowId: run.workflowId, runId },
        // That of the first workflow task's beginning.
        workflowTaskFinishEventId: 3 as never,
        requestId: `reset-${name}`,
        reason: 'by the test',
      });
      return temporal.client.workflow.getHandle(run.workflowId);
    });

    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });
});
