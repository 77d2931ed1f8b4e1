import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import {
  bundleWorkflowCode,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { activityInterceptors } from '../../src/activities/interceptors.ts';
import { ensureSearchAttributes } from '../../src/searchAttributes.ts';
import { until } from './until.ts';

export const silent = {
  log: () => {},
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** The workflows of src/, bundled as the worker does it. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
    logger: silent,
  });
}

export interface TestTemporal {
  [Symbol.asyncDispose](): Promise<void>;
  client: Client;
  address: string;
  namespace: string;
  /** Runs workers on all queues with these activities while `work` runs. */
  withWorkers<T>(
    activities: Record<string, (...input: never[]) => unknown>,
    work: () => Promise<T>,
  ): Promise<T>;
}

/** A new namespace with the search attributes of the service; its name. */
export async function newNamespace(connection: Connection, address: string): Promise<string> {
  const namespace = `test-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await until('the namespace', 20, async () => {
    try {
      await ensureSearchAttributes(address, namespace);
      return true;
    } catch {
      return undefined;
    }
  });
  return namespace;
}

/** A namespace of the caller's own on the Temporal server of the run, so that files do not see each other's tasks. */
export async function openTemporal(): Promise<TestTemporal> {
  const address = process.env['TEMPORAL_ADDRESS'];
  if (!address) throw new Error('TEMPORAL_ADDRESS is not set: run tests by `npm test`');
  try {
    Runtime.install({ logger: silent, shutdownSignals: [] });
  } catch {
    // Another file of this process installed it.
  }
  const connection = await Connection.connect({ address });
  const namespace = await newNamespace(connection, address);
  const native = await NativeConnection.connect({ address });
  const workflowBundle = await bundleWorkflows();
  return {
    client: new Client({ connection, namespace }),
    address,
    namespace,
    async withWorkers(activities, work) {
      const common = {
        connection: native,
        namespace,
        activities,
        shutdownForceTime: 5_000,
        interceptors: { activity: activityInterceptors },
      };
      const workers = await Promise.all([
        Worker.create({ ...common, taskQueue: 'cfe', workflowBundle }),
        Worker.create({ ...common, taskQueue: 'dgi' }),
        Worker.create({ ...common, taskQueue: 'webhooks', workflowBundle }),
      ]);
      const [first, second, third] = workers;
      return first.runUntil(second.runUntil(third.runUntil(work())));
    },
    async [Symbol.asyncDispose]() {
      await native.close();
      await connection.close();
    },
  };
}

/** Starts `issueCfe` for a CFE that exists only in the caller's activities. */
export function startIssueCfe({ client }: TestTemporal): Promise<WorkflowHandle> {
  const cfeId = randomUUID();
  return client.workflow.start('issueCfe', {
    workflowId: `cfe:${cfeId}`,
    taskQueue: 'cfe',
    args: [{ cfeId }],
  });
}

/** How many events a finished workflow has, and all that its history says, as one text. */
export async function historyOf(handle: WorkflowHandle): Promise<{ events: number; text: string }> {
  const history = await handle.fetchHistory();
  const decoded = (history.events ?? []).map((event) =>
    JSON.stringify(event, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
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
  const folder = join(import.meta.dirname, '../replay/histories');
  mkdirSync(folder, { recursive: true });
  const history: unknown = JSON.parse(historyToJSON(await handle.fetchHistory()));
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(history, null, 1)}\n`);
}
