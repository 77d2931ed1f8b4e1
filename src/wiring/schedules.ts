import {
  Client,
  Connection,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleHandle,
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
  Record<
    string,
    Pick<ScheduleOptions, 'spec'> & {
      workflow: string;
      summary: string;
      catchUp: number;
      /** The comment on the times of versions before, which these replace. */
      older?: string;
    }
  >
> = {
  expiries: {
    workflow: 'tellExpiries',
    summary:
      'Tells webhooks of certificates and CAEs that have expired or soon will, and of numbers that run low',
    // Numbers can run low within a day.
    spec: {
      calendars: [{ hour: '*', minute: 5, comment: 'Every hour; after midnight dates have passed' }],
      timezone: 'America/Montevideo',
    },
    older: 'After midnight, when dates have passed',
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
 * Creates the schedules that lack; safe at every start and in several processes at once. An existing one stays as it is,
 * since operators may have changed or paused it; only the times of a version before are replaced. Throws the server's error when the server is unreachable.
 */
export async function ensureSchedules(server: TemporalServer, namespace: string): Promise<void> {
  const connection = await Connection.connect({ ...server, connectTimeout: '5s' });
  try {
    const { schedule } = new Client({ connection, namespace });
    for (const [id, { workflow, summary, spec, catchUp, older }] of Object.entries(SCHEDULES)) {
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
        .catch(async (error: unknown) => {
          if (!(error instanceof ScheduleAlreadyRunning)) throw error;
          if (older !== undefined) await replaceTimes(schedule.getHandle(id), { older, spec });
        });
    }
  } finally {
    await connection.close();
  }
}

async function replaceTimes(
  handle: ScheduleHandle,
  { older, spec }: { older: string; spec: ScheduleOptions['spec'] },
): Promise<void> {
  const isOlder = (found: ScheduleDescription) =>
    found.spec.calendars?.some(({ comment }) => comment === older) ?? false;
  if (!isOlder(await handle.describe())) return;
  await handle.update((found) => (isOlder(found) ? { ...found, spec } : found));
}
