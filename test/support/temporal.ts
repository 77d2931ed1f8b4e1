import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { activityInterceptors } from '../../src/activities/interceptors.ts';
import { newNamespace } from './namespace.ts';

export const silent = {
  log: () => {},
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

/** The workflows of src/, bundled once for the run (test/support/services.ts). */
export const workflowBundle = { codePath: process.env['CFE_WORKFLOW_BUNDLE'] ?? '' };

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
  const namespace = await newNamespace(address);
  const native = await NativeConnection.connect({ address });
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
        Worker.create({ ...common, taskQueue: 'dgi', workflowBundle }),
        Worker.create({ ...common, taskQueue: 'webhooks', workflowBundle }),
        Worker.create({ ...common, taskQueue: 'mail', workflowBundle }),
        Worker.create({ ...common, taskQueue: 'exports', workflowBundle }),
      ]);
      return workers.reduce((running, worker) => worker.runUntil(running), work());
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
    workflowId: `cfe:219999830019:101-1:${cfeId.slice(0, 8)}`,
    taskQueue: 'cfe',
    args: [{ cfeId }],
  });
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
 * gets a new ending or, reviewed, a new shape. Names: `<workflow>.<ending>`; the file also has the shape of the results
 * that it holds.
 */
export async function recordHistory(handle: WorkflowHandle, name: string): Promise<void> {
  if (!process.env['RECORD_HISTORIES']) return;
  const folder = join(import.meta.dirname, '../replay/histories');
  mkdirSync(folder, { recursive: true });
  const history: unknown = JSON.parse(historyToJSON(await handle.fetchHistory()));
  const shape = name.startsWith('issueCfe.') ? 'atOnce' : 'kind';
  writeFileSync(join(folder, `${name}.${shape}.json`), `${JSON.stringify(history, null, 1)}\n`);
}
