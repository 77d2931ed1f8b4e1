/** Temporal's workers, one for each task queue, in one process. */
import {
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { activityInterceptors } from '../activities/interceptors.ts';
import { DEADLINES } from '../domain/deadlines.ts';
import { MOST_RUNNING_EXPORTS } from '../domain/receiptExport.ts';
import type { Logger } from '../logger.ts';
import { TASK_QUEUES, type TemporalServer } from '../temporal.ts';
import type { createActivities } from './activities.ts';

/** Workflows kept in memory. */
const CFES_CACHED = 1_000;
/** Deliveries that wait need no place in memory (a cached workflow takes some 1 MB): they are read again when their time comes. */
const DELIVERIES_CACHED = 200;
/** As those; a report wakes a few times. */
const REPORTS_CACHED = 200;
const RECONNECT_MILLISECONDS = 500;
/** They wait for receivers and cost little else; no receiver holds more than a few of them (webhooks/places.ts). */
const DELIVERIES_AT_ONCE = 200;
/** They draw and wait for the mail server; no account holds more than a few of them. */
const MAILS_AT_ONCE = 50;
const MAILS_CACHED = 100;
/** Each goes through all receipts of a month. One more than an account may have: another's goes on beside them. */
const EXPORTS_AT_ONCE = MOST_RUNNING_EXPORTS + 1;
const EXPORTS_CACHED = 20;
/** They wait for the authority, or for their slot of the next seconds. */
const CALLS_AT_ONCE = 200;

/** A connection to Temporal. It may come up later than we do, or be away for a while: it is waited for. */
export async function connectWorkers(server: TemporalServer, logger: Logger): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect(server);
    } catch (err) {
      logger.warn({ err }, 'Temporal cannot be reached yet');
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MILLISECONDS));
    }
  }
}

/** How much each worker has in hand, by its queue. */
const LIMITS = {
  cfe: { maxCachedWorkflows: CFES_CACHED },
  dgi: { maxCachedWorkflows: REPORTS_CACHED, maxConcurrentActivityTaskExecutions: CALLS_AT_ONCE },
  webhooks: {
    maxCachedWorkflows: DELIVERIES_CACHED,
    maxConcurrentActivityTaskExecutions: DELIVERIES_AT_ONCE,
  },
  mail: { maxCachedWorkflows: MAILS_CACHED, maxConcurrentActivityTaskExecutions: MAILS_AT_ONCE },
  exports: { maxCachedWorkflows: EXPORTS_CACHED, maxConcurrentActivityTaskExecutions: EXPORTS_AT_ONCE },
} as const;

/** Starts the workers. `close` ends them: activities under way get 20 s, then go on in another worker. */
export async function startWorkers(options: {
  connection: NativeConnection;
  namespace: string;
  workflowBundle: WorkflowBundleOption;
  activities: ReturnType<typeof createActivities>;
  logger: Logger;
}): Promise<{ close(): Promise<void> }> {
  const { connection, namespace, workflowBundle, activities, logger } = options;
  const common = {
    connection,
    namespace,
    shutdownGraceTime: DEADLINES.workerGrace,
    shutdownForceTime: DEADLINES.workerCut,
    interceptors: { activity: activityInterceptors },
  };
  const workers: Worker[] = [];
  for (const queue of Object.keys(LIMITS) as (keyof typeof LIMITS)[]) {
    const taskQueue = TASK_QUEUES[queue];
    workers.push(
      await Worker.create({
        ...common,
        taskQueue,
        activities: activities[queue],
        workflowBundle,
        ...LIMITS[queue],
      }),
    );
  }
  const runs = Promise.all(workers.map((worker) => worker.run()));
  return {
    async close() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await runs.catch((err: unknown) => {
        if (!(err instanceof GracefulShutdownPeriodExpiredError)) throw err;
        logger.warn('activities that were under way were cut off; they go on in another worker');
      });
    },
  };
}
