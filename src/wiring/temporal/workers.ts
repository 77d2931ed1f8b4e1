/** Temporal's workers, one per task queue, in one process. */
import {
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { activityInterceptors } from '../../activities/interceptors.ts';
import { DEADLINES } from '../../domain/authority/deadlines.ts';
import { MOST_RUNNING_EXPORTS } from '../../domain/receipts/receiptExport.ts';
import type { Logger } from '../../logger.ts';
import { TASK_QUEUES, type TemporalServer } from '../../temporal.ts';
import { IDENTITY } from '../identity.ts';

type Queue = keyof typeof TASK_QUEUES;

/** Workflows cached in memory, some 1 MB each: in all less than the memory of a worker's container. */
const CFES_CACHED = 1_000;
/** Waiting workflows need no cache: they are replayed from short histories when they continue. */
const DELIVERIES_CACHED = 100;
/** Reports resume only a few times, also from short histories. */
const REPORTS_CACHED = 100;
const RECONNECT_MILLISECONDS = 500;
/** Deliveries mostly wait for receivers; each receiver gets only a few slots (webhooks/slots.ts). */
const DELIVERIES_AT_ONCE = 200;
/** E-mails mostly wait for the mail server; each account gets only a few slots. */
const MAILS_AT_ONCE = 50;
const MAILS_CACHED = 50;
/**
 * Exports read all receipts of a month. One slot more than an account's maximum lets another account's export run.
 */
const EXPORTS_AT_ONCE = MOST_RUNNING_EXPORTS + 1;
const EXPORTS_CACHED = 20;
/** Sends wait for the authority, or for a slot in the next seconds. */
const SENDS_AT_ONCE = 200;
/** Other calls wait for the authority. Hundreds of reports may queue here in a night. */
const OTHER_CALLS_AT_ONCE = 50;
/** Reports computed at a time: each reads all CFEs of its day over database connections that issuing needs. */
const REPORTS_AT_ONCE = 2;

/** Connects to Temporal, waiting while it is unavailable. */
export async function connectWorkers(server: TemporalServer, logger: Logger): Promise<NativeConnection> {
  for (;;) {
    try {
      // Messages have less than a kilobyte: on a local network gzip costs more than it saves.
      const grpcCompression = server.tls ? undefined : ({ codec: 'none' } as const);
      return await NativeConnection.connect({ ...server, ...(grpcCompression && { grpcCompression }) });
    } catch (err) {
      logger.warn({ err }, 'Temporal cannot be reached yet');
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MILLISECONDS));
    }
  }
}

/** Mostly idle queues need few concurrent polls; the server requests more when tasks wait. */
const FEW_POLLS = {
  workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2 },
  activityTaskPollerBehavior: { type: 'autoscaling', initial: 2 },
} as const;

/**
 * Concurrency of each worker, by queue; a worker without `maxCachedWorkflows` runs no workflows. @internal exported for
 * tests
 */
export const WORKER_LIMITS: Readonly<
  Record<
    Queue,
    Pick<
      WorkerOptions,
      | 'maxCachedWorkflows'
      | 'maxConcurrentActivityTaskExecutions'
      | 'workflowTaskPollerBehavior'
      | 'activityTaskPollerBehavior'
    >
  >
> = {
  cfe: { maxCachedWorkflows: CFES_CACHED },
  dgi: { maxConcurrentActivityTaskExecutions: SENDS_AT_ONCE },
  calls: { maxConcurrentActivityTaskExecutions: OTHER_CALLS_AT_ONCE },
  reports: { maxCachedWorkflows: REPORTS_CACHED, maxConcurrentActivityTaskExecutions: REPORTS_AT_ONCE },
  webhooks: {
    ...FEW_POLLS,
    maxCachedWorkflows: DELIVERIES_CACHED,
    maxConcurrentActivityTaskExecutions: DELIVERIES_AT_ONCE,
  },
  mail: {
    ...FEW_POLLS,
    maxCachedWorkflows: MAILS_CACHED,
    maxConcurrentActivityTaskExecutions: MAILS_AT_ONCE,
  },
  exports: {
    ...FEW_POLLS,
    maxCachedWorkflows: EXPORTS_CACHED,
    maxConcurrentActivityTaskExecutions: EXPORTS_AT_ONCE,
  },
};

/** Starts the workers. `close` ends them: running activities get 20 s, then continue in another worker. */
export async function startWorkers(options: {
  connection: NativeConnection;
  namespace: string;
  workflowBundle: WorkflowBundleOption;
  activities: Readonly<Record<Queue, object>>;
  logger: Logger;
  /** Called for each attempt of an activity that failed because of a bug. */
  onBug: (activityType: string) => void;
}): Promise<{ close(): Promise<void> }> {
  const { connection, namespace, workflowBundle, activities, logger, onBug } = options;
  const common = {
    connection,
    namespace,
    identity: IDENTITY,
    shutdownGraceTime: DEADLINES.workerGrace,
    shutdownForceTime: DEADLINES.workerCut,
    // By default the SDK delays heartbeats for 8 of the 10 s: a stall of 2 s would cause a concurrent second attempt.
    maxHeartbeatThrottleInterval: DEADLINES.heartbeatEvery,
    interceptors: { activity: activityInterceptors(onBug) },
  };
  const workers: Worker[] = [];
  for (const queue of Object.keys(WORKER_LIMITS) as Queue[]) {
    const limits = WORKER_LIMITS[queue];
    workers.push(
      await Worker.create({
        ...common,
        taskQueue: TASK_QUEUES[queue],
        activities: activities[queue],
        ...limits,
        ...(limits.maxCachedWorkflows === undefined ? {} : { workflowBundle }),
      }),
    );
  }
  const runs = Promise.all(workers.map((worker) => worker.run()));
  return {
    async close() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await runs.catch((err: unknown) => {
        if (!(err instanceof GracefulShutdownPeriodExpiredError)) throw err;
        logger.warn('running activities were interrupted; they continue in another worker');
      });
    },
  };
}
