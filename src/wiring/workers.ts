/** Temporal's workers, one for each task queue, in one process. */
import {
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { activityInterceptors } from '../activities/interceptors.ts';
import { DEADLINES } from '../domain/deadlines.ts';
import { MOST_RUNNING_EXPORTS } from '../domain/receiptExport.ts';
import type { Logger } from '../logger.ts';
import { TASK_QUEUES, type TemporalServer } from '../temporal.ts';
import { IDENTITY } from './identity.ts';

type Queue = keyof typeof TASK_QUEUES;

/** Workflows kept in memory, where each takes some 1 MB: together less than the container of a worker may have. */
const CFES_CACHED = 1_000;
/** Those that wait need no place in memory: they are read again, from short histories, when their time comes. */
const DELIVERIES_CACHED = 100;
/** As those; a report wakes a few times. */
const REPORTS_CACHED = 100;
const RECONNECT_MILLISECONDS = 500;
/** They wait for receivers and cost little else; no receiver holds more than a few of them (webhooks/slots.ts). */
const DELIVERIES_AT_ONCE = 200;
/** They draw and wait for the mail server; no account holds more than a few of them. */
const MAILS_AT_ONCE = 50;
const MAILS_CACHED = 50;
/** Each goes through all receipts of a month. One more than an account may have: another's goes on beside them. */
const EXPORTS_AT_ONCE = MOST_RUNNING_EXPORTS + 1;
const EXPORTS_CACHED = 20;
/** They wait for the authority, or for their slot of the next seconds. */
const SENDS_AT_ONCE = 200;
/** They wait for the authority. The sending of reports alone may be hundreds in a night: they take their turns. */
const OTHER_CALLS_AT_ONCE = 50;
/** Days summed at a time: each reads all CFEs of its day, whose connections to the database CFEs need. */
const REPORTS_AT_ONCE = 2;

/** A connection to Temporal. It may come up later than we do, or be away for a while: it is waited for. */
export async function connectWorkers(server: TemporalServer, logger: Logger): Promise<NativeConnection> {
  for (;;) {
    try {
      // Messages have less than a kilobyte: on the machine or the network beside it gzip costs more than it saves.
      const grpcCompression = server.tls ? undefined : ({ codec: 'none' } as const);
      return await NativeConnection.connect({ ...server, ...(grpcCompression && { grpcCompression }) });
    } catch (err) {
      logger.warn({ err }, 'Temporal cannot be reached yet');
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MILLISECONDS));
    }
  }
}

/** Queues that are mostly idle need few polls at a time; more where the server says that tasks wait. */
const FEW_POLLS = {
  workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2 },
  activityTaskPollerBehavior: { type: 'autoscaling', initial: 2 },
} as const;

/**
 * How much each worker has in hand, by its queue; without a number of workflows it runs none.
 * @internal exported for tests
 */
export const LIMITS: Readonly<
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

/** Starts the workers. `close` ends them: activities under way get 20 s, then go on in another worker. */
export async function startWorkers(options: {
  connection: NativeConnection;
  namespace: string;
  workflowBundle: WorkflowBundleOption;
  activities: Readonly<Record<Queue, object>>;
  logger: Logger;
  /** Hears of each attempt of an activity that failed by a mistake of ours. */
  onBug: (activityType: string) => void;
}): Promise<{ close(): Promise<void> }> {
  const { connection, namespace, workflowBundle, activities, logger, onBug } = options;
  const common = {
    connection,
    namespace,
    identity: IDENTITY,
    shutdownGraceTime: DEADLINES.workerGrace,
    shutdownForceTime: DEADLINES.workerCut,
    // Else the SDK holds heartbeats back for 8 of the 10 s, and a stall of 2 s makes a second attempt beside the first.
    maxHeartbeatThrottleInterval: DEADLINES.heartbeatEvery,
    interceptors: { activity: activityInterceptors(onBug) },
  };
  const workers: Worker[] = [];
  for (const queue of Object.keys(LIMITS) as Queue[]) {
    const limits = LIMITS[queue];
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
        logger.warn('activities that were under way were cut off; they go on in another worker');
      });
    },
  };
}
