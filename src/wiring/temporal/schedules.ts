import {
  Client,
  Connection,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleHandle,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { TASK_QUEUES, type TemporalServer } from '../../temporal.ts';

const HOUR_MILLISECONDS = 3_600_000;

interface ScheduleRow extends Pick<ScheduleOptions, 'spec'> {
  readonly workflow: string;
  readonly summary: string;
  readonly catchUp: number;
}

/**
 * Scheduled workflows, by schedule id, which is also the prefix of their workflow ids. One run makes up for missed runs;
 * a run that is still in progress skips the next. `reportsAt`: CFE_REPORT_AT.
 */
const schedulesAt = (reportsAt: string): Readonly<Record<string, ScheduleRow>> => ({
  expiries: {
    workflow: 'tellExpiries',
    summary:
      'Notifies webhooks of certificates and CAEs that have expired or will soon expire, and of low numbers',
    // Numbers can run low within a day.
    spec: {
      calendars: [{ hour: '*', minute: 5, comment: 'Every hour; after midnight dates have passed' }],
      timezone: 'America/Montevideo',
    },
    catchUp: 24 * HOUR_MILLISECONDS,
  },
  rejected: {
    workflow: 'askRejected',
    summary: 'Asks the authority about CFEs rejected for E06, which it may still accept within 60 days',
    spec: {
      calendars: [{ hour: 9, minute: 20, comment: 'Once a day' }],
      timezone: 'America/Montevideo',
    },
    catchUp: 24 * HOUR_MILLISECONDS,
  },
  directory: {
    workflow: 'loadDirectory',
    summary: 'Loads new and changed electronic issuers, which receive CFEs',
    spec: {
      calendars: [{ hour: 4, minute: 20, comment: 'Once a day, at night' }],
      timezone: 'America/Montevideo',
    },
    catchUp: 24 * HOUR_MILLISECONDS,
  },
  purge: {
    workflow: 'purgeExpired',
    summary: 'Deletes expired rows',
    spec: { calendars: [{ hour: '*', minute: 35, comment: 'Every hour' }] },
    catchUp: HOUR_MILLISECONDS,
  },
  recover: {
    workflow: 'recoverRuns',
    summary: 'Restarts unfinished workflows that have no run',
    spec: { calendars: [{ hour: '*', minute: 50, comment: 'Every hour' }] },
    catchUp: HOUR_MILLISECONDS,
  },
  'daily-reports': {
    workflow: 'startDailyReports',
    summary: 'Starts the reports of past days, and wakes reports whose day has changed',
    spec: {
      calendars: [
        {
          hour: Number(reportsAt.slice(0, 2)),
          minute: Number(reportsAt.slice(3)),
          comment: `At ${reportsAt}, as CFE_REPORT_AT says`,
        },
      ],
      timezone: 'America/Montevideo',
    },
    catchUp: 24 * HOUR_MILLISECONDS,
  },
});

/** Comment on times set by CFE_REPORT_AT: only such times are replaced when the setting changes. */
const REPORT_AT = /^At \d\d:\d\d, as CFE_REPORT_AT says$/;

/**
 * Creates missing schedules; safe at every start and in concurrent processes. Keeps existing schedules, which operators may
 * have changed or paused, except for times set by another CFE_REPORT_AT. Throws Temporal's error when it is unreachable.
 */
export async function ensureSchedules(
  server: TemporalServer,
  namespace: string,
  { reportsAt }: { reportsAt: string },
): Promise<void> {
  const connection = await Connection.connect({ ...server, connectTimeout: '5s' });
  try {
    const { schedule } = new Client({ connection, namespace });
    for (const [id, { workflow, summary, spec, catchUp }] of Object.entries(schedulesAt(reportsAt))) {
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
          await replaceReportAt(schedule.getHandle(id), spec);
        });
    }
  } finally {
    await connection.close();
  }
}

async function replaceReportAt(handle: ScheduleHandle, spec: ScheduleOptions['spec']): Promise<void> {
  const comments = spec.calendars?.map(({ comment }) => comment) ?? [];
  const hasOtherTime = ({ spec: { calendars = [] } }: ScheduleDescription) =>
    calendars.some(({ comment = '' }) => REPORT_AT.test(comment) && !comments.includes(comment));
  if (!hasOtherTime(await handle.describe())) return;
  await handle.update((stored) => (hasOtherTime(stored) ? { ...stored, spec } : stored));
}
