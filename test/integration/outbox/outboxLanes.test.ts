import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { pino } from 'pino';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import { enqueue, leaseWaiting } from '../../../src/db/outbox.ts';
import { createDispatcher } from '../../../src/outbox/dispatcher.ts';
import { LANES, WORKFLOWS, type WorkflowName } from '../../../src/temporal.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startTemporalThatAgrees } from '../../support/temporal/temporalThatAgrees.ts';
import { until } from '../../support/until.ts';

const { StartWorkflowExecutionRequest } = proto.temporal.api.workflowservice.v1;
const MANY = 10_000;
const RUT = '219999830019';

describe('the lanes of the outbox', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await cloneDatabase({ worker: true });
  });
  afterEach(() => database[Symbol.asyncDispose]());

  const store = (workflow: WorkflowName, workflowId: string, rut = RUT) =>
    database.orm.em.fork().transactional(async (em) => {
      enqueue(em, { workflow, workflowId, input: {}, searchAttributes: { EnterpriseRut: rut } }, new Date());
    });
  const storeDeliveries = () =>
    database.orm.em.fork().execute(
      `insert into outbox (lane, workflow, workflow_id, input, search_attributes, created_at, attempts, not_before)
       select ?, 'deliverWebhook', 'wh:' || n, '{}', '{}', now(), 0, to_timestamp(0) from generate_series(1, ?) as n`,
      [WORKFLOWS.deliverWebhook.lane, MANY],
    );
  const idsOf = (messages: readonly OutboxMessage[]) => messages.map(({ workflowId }) => workflowId);

  test('behind ten thousand deliveries a receipt is in the very next batch, and a few deliveries with it', async () => {
    await storeDeliveries();
    await store('reportDay', 'report');
    await store('issueCfes', 'cfe');

    const batch = await leaseWaiting(database.worker.em.fork(), { first: 2, bulk: 2 });

    expect(idsOf(batch)).toEqual(['cfe', 'report', 'wh:1', 'wh:2']);
  });

  test('each start is in the lane of its workflow, signals too', async () => {
    for (const workflow of Object.keys(WORKFLOWS) as WorkflowName[]) await store(workflow, workflow);
    const rows = await database.orm.em.fork().find(OutboxMessage, {});

    expect(Object.fromEntries(rows.map(({ workflow, lane }) => [workflow, lane]))).toEqual({
      issueCfes: LANES.receipts,
      onboardEnterprise: LANES.work,
      validateCredentials: LANES.work,
      checkCaeStart: LANES.work,
      reportDay: LANES.work,
      exchangeCfe: LANES.work,
      deliverWebhook: LANES.bulk,
      deliverReceipt: LANES.bulk,
      bulkRun: LANES.bulk,
      exportReceipts: LANES.bulk,
      homologation: LANES.bulk,
    });
  });

  test('while a burst of deliveries goes out slowly, a receipt goes with the next batch; Temporal is told whose it is, and that it comes first', async () => {
    await storeDeliveries();
    const started: proto.temporal.api.workflowservice.v1.StartWorkflowExecutionRequest[] = [];
    let [underWay, mostUnderWay] = [0, 0];
    const slow = await startTemporalThatAgrees({
      async onCall(path, request) {
        if (!path.endsWith('/StartWorkflowExecution')) return;
        started.push(StartWorkflowExecutionRequest.decode(request));
        underWay += 1;
        mostUnderWay = Math.max(mostUnderWay, underWay);
        await new Promise((resolve) => setTimeout(resolve, 100));
        underWay -= 1;
      },
    });
    const dispatcher = createDispatcher({
      orm: database.worker,
      temporal: { address: slow.address },
      namespace: 'default',
      logger: pino({ level: 'silent' }),
    });
    try {
      dispatcher.scheduleDispatch();
      await until('some deliveries', 20, async () => started.length >= 8);

      await store('issueCfes', 'cfe');
      dispatcher.scheduleDispatch();
      const before = started.length;
      const at = await until('the receipt', 20, async () => {
        const place = started.findIndex(({ workflowId }) => workflowId === 'cfe');
        return place === -1 ? undefined : place;
      });

      // A batch may have been taken while the receipt was stored; the next one has it.
      expect(at - before).toBeLessThanOrEqual(8);
      expect(mostUnderWay).toBeLessThanOrEqual(16);
      expect(started[at]?.priority).toMatchObject({ priorityKey: 2, fairnessKey: RUT });
      expect(started[0]?.priority).toMatchObject({ priorityKey: 4, fairnessKey: '' });
    } finally {
      await dispatcher.close();
      await slow.stop();
    }
  });
});
