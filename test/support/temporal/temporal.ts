import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { activityInfo } from '@temporalio/activity';
import {
  Client,
  Connection,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { activityInterceptors } from '../../../src/activities/interceptors.ts';
import { issueCfesMessage } from '../../../src/db/authority/sobres.ts';
import { startAttributePairs } from '../../../src/searchAttributes.ts';
import { newSobreWorkflowId, TASK_QUEUES, WORKFLOWS, type WorkflowMessage } from '../../../src/temporal.ts';
import { writeHistory } from './histories.ts';
import { newNamespace } from './namespace.ts';

export const silent = {
  log: () => {},
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** The workflows of src/, bundled once for the run (test/support/processes/services.ts). */
export const workflowBundle = { codePath: process.env['CFE_WORKFLOW_BUNDLE'] ?? '' };

type TestActivities = Record<string, (...input: never[]) => unknown>;

export interface TestTemporal {
  [Symbol.asyncDispose](): Promise<void>;
  client: Client;
  address: string;
  namespace: string;
  /** Has the workers of the file do these activities while `work` runs. */
  withWorkers<T>(activities: TestActivities, work: () => Promise<T>): Promise<T>;
}

/**
 * A namespace of the caller's own on the Temporal server of the run, so that files do not see each other's tasks. Workers
 * on `queues` start with the first use of `withWorkers` and stay until the end of the file.
 */
export async function openTemporal(...queues: (keyof typeof TASK_QUEUES)[]): Promise<TestTemporal> {
  const address = process.env['TEMPORAL_ADDRESS'];
  if (!address) throw new Error('TEMPORAL_ADDRESS is not set: run tests by `npm test`');
  try {
    Runtime.install({ logger: silent, shutdownSignals: [] });
  } catch {
    // Another file of this process installed it.
  }
  // A history that a test has made long comes as one message.
  const connection = await Connection.connect({
    address,
    channelArgs: { 'grpc.max_receive_message_length': 20_000_000 },
  });
  const namespace = await newNamespace(address);
  const native = await NativeConnection.connect({ address });

  let current: TestActivities = {};
  async function perform(...input: never[]): Promise<unknown> {
    const { activityType } = activityInfo();
    const activity = current[activityType];
    if (!activity) throw new Error(`the test has no activity ${activityType}`);
    return activity(...input);
  }
  let workers: Worker[] = [];
  let running: Promise<unknown> = Promise.resolve();
  async function startWorkers(): Promise<void> {
    workers = await Promise.all(
      queues.map((queue) =>
        Worker.create({
          connection: native,
          namespace,
          taskQueue: TASK_QUEUES[queue],
          workflowBundle,
          activities: { default: perform },
          shutdownForceTime: 5_000,
          interceptors: { activity: activityInterceptors(() => {}) },
        }),
      ),
    );
    running = Promise.all(workers.map((worker) => worker.run()));
  }
  return {
    client: new Client({ connection, namespace }),
    address,
    namespace,
    async withWorkers(activities, work) {
      if (workers.length === 0) await startWorkers();
      current = activities;
      try {
        // A worker that breaks down fails the test.
        return await Promise.race([work(), running.then(ended)]);
      } finally {
        current = {};
      }
    },
    async [Symbol.asyncDispose]() {
      for (const worker of workers) worker.shutdown();
      await running;
      await native.close();
      await connection.close();
    },
  };
}

const ended = (): never => {
  throw new Error('the workers of the file ended before its tests');
};

/** What starts `issueCfes` for a sobre that exists only in the caller's activities. */
export function sobreMessage(cfeIds: readonly string[] = ['101-1']): WorkflowMessage {
  const [rut, environment] = ['219999830019', 'production'] as const;
  const id = randomUUID();
  const [firstCfeId = '', ...others] = cfeIds;
  const workflowId = newSobreWorkflowId({ uuid: id, rut, environment, firstCfeId, others: others.length });
  const cfes = cfeIds.map((cfeId) => ({ type: 'ETICKET' as const, cfeId }));
  return issueCfesMessage({ id, workflowId, rut, environment }, cfes);
}

/** Starts the workflow of a message as the outbox does; of a sobre with those CFEs unless told otherwise. */
export function startIssueCfes(
  { client }: Pick<TestTemporal, 'client'>,
  of: readonly string[] | WorkflowMessage = ['101-1'],
): Promise<WorkflowHandleWithFirstExecutionRunId> {
  const message = 'workflow' in of ? of : sobreMessage(of);
  const { workflow, workflowId, input, searchAttributes = {} } = message;
  const { taskQueue, idReuse } = WORKFLOWS[workflow];
  return client.workflow.start(workflow, {
    workflowId,
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: idReuse,
    typedSearchAttributes: startAttributePairs(searchAttributes),
  });
}

/** The current details of a run, which the Temporal UI shows. */
export async function detailsOf(handle: WorkflowHandle): Promise<string> {
  const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return currentDetails ?? '';
}

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

/** The events of a run up to now. */
export const eventsOf = async (handle: WorkflowHandle): Promise<Events> =>
  (await handle.fetchHistory()).events ?? [];

/** What the timers say that are running, as the timeline shows them. */
export async function timersOf(handle: WorkflowHandle): Promise<string[]> {
  const running = new Map<string, string>();
  for (const { timerStartedEventAttributes, timerCanceledEventAttributes, userMetadata } of await eventsOf(
    handle,
  )) {
    const { data } = userMetadata?.summary ?? {};
    const summary = data ? (JSON.parse(Buffer.from(data).toString()) as string) : '';
    if (timerStartedEventAttributes?.timerId) running.set(timerStartedEventAttributes.timerId, summary);
    if (timerCanceledEventAttributes?.timerId) running.delete(timerCanceledEventAttributes.timerId);
  }
  return [...running.values()];
}

/** How many events a finished workflow has, and all that its history says, as one text. */
export async function historyOf(handle: WorkflowHandle): Promise<{ events: number; text: string }> {
  const history = await handle.fetchHistory();
  const decoded = (history.events ?? []).map((event) =>
    // Protobuf's own JSON has the bytes of payloads in base64.
    JSON.stringify(event, (key, value: unknown) =>
      key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
    ),
  );
  return { events: decoded.length, text: decoded.join('\n') };
}

/**
 * Stores the history of an ended workflow for the replay tests when RECORD_HISTORIES is set; run so when a workflow
 * gets a new ending or, reviewed, a new shape. Names: `<workflow>.<ending>`.
 */
export async function recordHistory(handle: WorkflowHandle, name: string): Promise<void> {
  if (!process.env['RECORD_HISTORIES']) return;
  writeHistory(join(import.meta.dirname, `../../replay/histories/${name}.json`), await handle.fetchHistory());
}
