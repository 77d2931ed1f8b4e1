/** The workflows that schedules start (wiring/temporal/schedules.ts). */
import { setCurrentDetails, sleep } from '@temporalio/workflow';
import type { SupportAct } from '../activities/activities.ts';
import type { Recovered, RejectedResult } from '../domain/authority/activityResults.ts';
import type { Purged } from '../domain/operations/retention.ts';
import type { SupportAnswer } from '../domain/operations/supportAction.ts';
import { activity, LONG_WORK, OTHER_CALL, OTHER_CALL_LONG, SUPPORT_CALL } from './common.ts';

const askAboutAllRejected = activity('askRejected', {
  ...OTHER_CALL_LONG,
  summary: 'Ask whether the authority has accepted what it rejected for E06',
});
const supportCfe = activity('supportCfe', { ...SUPPORT_CALL, summary: 'Do what support asks for' });

/**
 * Asks about CFEs rejected for E06 alone (docs/contract.md#rejected-for-e06): all of them, once a day; or one
 * at once, when support asks. Ends with the result.
 */
export async function askRejected(act?: SupportAct): Promise<Omit<RejectedResult, 'kind'> | SupportAnswer> {
  if (act) {
    setCurrentDetails('Asking about one CFE that was rejected for E06, as support requested.');
    const { kind: outcome, ...answer } = await supportCfe(act);
    setCurrentDetails(`Ended: ${answer.message}`);
    return { outcome, ...answer };
  }
  setCurrentDetails('Asking about the CFEs that were rejected for E06 alone.');
  const { kind: _, ...counts } = await askAboutAllRejected();
  setCurrentDetails(
    `Ended: accepted: ${counts.accepted}, annulled: ${counts.annulled}, still undecided: ${counts.undecided}, without an answer: ${counts.unanswered}.`,
  );
  return counts;
}

const loadEntries = activity('loadDirectory', {
  ...OTHER_CALL,
  startToCloseTimeout: LONG_WORK.startToCloseTimeout,
  summary: 'Load the electronic issuers that came or changed',
});

/**
 * Loads the authority's list of electronic issuers, all of it the first time, then its changes. Ends with the
 * number of entries, or null if no enterprise can ask for it.
 */
export async function loadDirectory(): Promise<{ entries: number | null }> {
  setCurrentDetails('Asking the authority for its list of electronic issuers; repeated until it answers.');
  const loaded = await loadEntries();
  const entries = loaded.kind === 'loaded' ? loaded.entries : null;
  setCurrentDetails(
    entries === null ? 'Ended: no enterprise is READY to ask with.' : `Ended: entries received: ${entries}.`,
  );
  return { entries };
}

const deleteExpired = activity('deleteExpired', {
  ...LONG_WORK,
  summary: 'Delete the rows past their retention',
});

/** Deletes rows past their retention; ends with the number of rows of each table. */
export async function purgeExpired(): Promise<Purged> {
  setCurrentDetails('Deleting the rows past their retention, in batches.');
  const { rows } = await deleteExpired();
  setCurrentDetails('Ended.');
  return rows;
}

const startReports = activity('startReports', {
  ...LONG_WORK,
  summary: 'Store the days that are due; start their reports',
});

/**
 * Starts the reports of due days, enterprise by enterprise, no faster than they can be sent beside CFEs; ends
 * with the number of started reports.
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
      await sleep(started.pauseMilliseconds, { summary: 'Keep to the rate of sends' });
    }
  }
  setCurrentDetails(`Ended: reports started: ${reports}.`);
  return { reports };
}

const recover = activity('recoverRuns', {
  ...LONG_WORK,
  summary: 'Find unfinished rows and start those without a run',
});

/** Starts workflows of unfinished rows without a run, as after a Terminate; ends with their number. */
export async function recoverRuns(): Promise<{ recovered: number }> {
  setCurrentDetails('Looking for unfinished rows without a run.');
  let recovered = 0;
  let after: Recovered['after'] = null;
  do {
    const looked = await recover(after);
    recovered += looked.recovered;
    after = looked.after;
  } while (after !== null);
  setCurrentDetails(`Ended: started again: ${recovered}.`);
  return { recovered };
}

const recordExpiries = activity('recordExpiries', {
  ...LONG_WORK,
  summary: 'Look whose certificate or CAE has expired',
});

/**
 * Notifies the webhooks of every enterprise, once, of a certificate or CAE past its date, and sends due
 * warnings; ends with the number of enterprises notified.
 */
export async function tellExpiries(): Promise<{ told: number }> {
  setCurrentDetails('Looking for certificates and CAEs that passed their date.');
  const { enterprises } = await recordExpiries();
  setCurrentDetails(`Ended: enterprises notified: ${enterprises}.`);
  return { told: enterprises };
}
