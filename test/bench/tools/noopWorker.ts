/** A plain worker for the workflow that does nothing, with the options of src/main/worker.ts; says `ready`, ends at SIGTERM. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { silent } from '../../support/temporal/temporal.ts';

const CACHED = 1_000;

Runtime.install({ logger: silent, shutdownSignals: [] });
const connection = await NativeConnection.connect({
  address: process.env['TEMPORAL_ADDRESS'] ?? '',
  grpcCompression: { codec: 'none' },
});
const namespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./noopWorkflow.ts', import.meta.url)),
  logger: silent,
});
const nothing = async (): Promise<void> => {};
const workers = [
  await Worker.create({
    connection,
    namespace,
    taskQueue: 'bench-own',
    workflowBundle,
    activities: { own: nothing },
    maxCachedWorkflows: CACHED,
  }),
  await Worker.create({ connection, namespace, taskQueue: 'bench-calls', activities: { call: nothing } }),
];
process.once('SIGTERM', () => {
  for (const worker of workers) worker.shutdown();
});
const runs = workers.map((worker) => worker.run());
console.log('ready');
await Promise.all(runs);
await connection.close();
