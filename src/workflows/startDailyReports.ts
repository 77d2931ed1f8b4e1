import { setCurrentDetails, sleep } from '@temporalio/workflow';
import { activity } from './activities.ts';
import { OWN_LONG } from './options.ts';

const startReports = activity('startReports', {
  ...OWN_LONG,
  summary: 'Store the days that are due; start their reports',
});

/**
 * Starts the reports of the days that are due, enterprise by enterprise, no faster than the authority takes them beside
 * CFEs. Started every night by the schedule `daily-reports`; ends with how many were started.
 */
export async function startDailyReports(): Promise<{ reports: number }> {
  setCurrentDetails('Starting the reports of days that are due.');
  let reports = 0;
  let after: string | null = '';
  while (after !== null) {
    const started = await startReports(after);
    reports += started.reports;
    after = started.after;
    if (after !== null && started.pauseMilliseconds > 0) {
      await sleep(started.pauseMilliseconds, { summary: 'Not faster than they can be sent' });
    }
  }
  setCurrentDetails(`Ended: reports started: ${reports}.`);
  return { reports };
}
