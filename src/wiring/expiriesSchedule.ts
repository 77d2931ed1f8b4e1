import { Client, Connection, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { TASK_QUEUES, type TemporalServer } from '../temporal.ts';

/** The id of the schedule, and the beginning of the ids of its runs. */
const EXPIRIES_SCHEDULE = 'expiries';

const DAY_MILLISECONDS = 86_400_000;

/**
 * Creates the schedule that reports expired certificates and CAEs every day, early in Montevideo's day; safe at every
 * start and in several processes at once. An existing one stays as it is: operators may have paused it. Throws the
 * server's error when the server is unreachable.
 */
export async function ensureExpiriesSchedule(server: TemporalServer, namespace: string): Promise<void> {
  const connection = await Connection.connect({ ...server, connectTimeout: '5s' });
  try {
    await new Client({ connection, namespace }).schedule.create({
      scheduleId: EXPIRIES_SCHEDULE,
      spec: {
        calendars: [{ hour: 0, minute: 5, comment: 'After midnight, when dates have passed' }],
        timezone: 'America/Montevideo',
      },
      // A run reports everything since the one before, so one run makes up for an outage.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: DAY_MILLISECONDS },
      action: {
        type: 'startWorkflow',
        workflowType: 'tellExpiries',
        workflowId: EXPIRIES_SCHEDULE,
        taskQueue: TASK_QUEUES.cfe,
        staticSummary: 'Tells webhooks of certificates and CAEs that have expired',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  } finally {
    await connection.close();
  }
}
