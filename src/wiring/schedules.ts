import {
  Client,
  Connection,
  ScheduleAlreadyRunning,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { TASK_QUEUES, type TemporalServer } from '../temporal.ts';

const HOUR_MILLISECONDS = 3_600_000;

/**
 * What begins by the clock: the id of each schedule, which is also the beginning of the ids of its runs. One run makes
 * up for those that were missed, and a run that is still going lets the next be skipped.
 */
const SCHEDULES: Readonly<
  Record<string, Pick<ScheduleOptions, 'spec'> & { workflow: string; summary: string; catchUp: number }>
> = {
  expiries: {
    workflow: 'tellExpiries',
    summary: 'Tells webhooks of certificates and CAEs that have expired',
    spec: {
      calendars: [{ hour: 0, minute: 5, comment: 'After midnight, when dates have passed' }],
      timezone: 'America/Montevideo',
    },
    catchUp: 24 * HOUR_MILLISECONDS,
  },
  purge: {
    workflow: 'purgeExpired',
    summary: 'Takes out the rows whose time is over',
    spec: { calendars: [{ hour: '*', minute: 35, comment: 'Every hour' }] },
    catchUp: HOUR_MILLISECONDS,
  },
};

/**
 * Creates the schedules that lack; safe at every start and in several processes at once. An existing one stays as it is:
 * operators may have paused it. Throws the server's error when the server is unreachable.
 */
export async function ensureSchedules(server: TemporalServer, namespace: string): Promise<void> {
  const connection = await Connection.connect({ ...server, connectTimeout: '5s' });
  try {
    const { schedule } = new Client({ connection, namespace });
    for (const [id, { workflow, summary, spec, catchUp }] of Object.entries(SCHEDULES)) {
      await schedule
        .create({
          scheduleId: id,
          spec,
          policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchUp },
          action: {
            type: 'startWorkflow',
            workflowType: workflow,
            workflowId: id,
            taskQueue: TASK_QUEUES.cfe,
            staticSummary: summary,
          },
        })
        .catch((error: unknown) => {
          if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        });
    }
  } finally {
    await connection.close();
  }
}
