/** The workflows that schedules begin (wiring/schedules.ts). */
import { setCurrentDetails, sleep } from '@temporalio/workflow';
import type { SupportAct } from '../activities/activities.ts';
import type { Recovered, RejectedResult } from '../domain/activityResults.ts';
import type { Purged } from '../domain/retention.ts';
import type { SupportAnswer } from '../domain/supportAction.ts';
import { activity, OTHER_CALL, OTHER_CALL_LONG, OWN_LONG, SUPPORT_CALL } from './common.ts';

const askAboutAll = activity('askRejected', {
  ...OTHER_CALL_LONG,
  summary: 'Ask whether the authority has accepted what it rejected for E06',
});
const supportCfe = activity('supportCfe', { ...SUPPORT_CALL, summary: 'Do what support asks for' });

/**
 * Asks about CFEs that were rejected for E06 alone (docs/contract.md#rejected-for-e06): about all of them, once a day; or
 * about one at once, as support asks. Ends with what came of it.
 */
export async function askRejected(act?: SupportAct): Promise<Omit<RejectedResult, 'kind'> | SupportAnswer> {
  if (act) {
    setCurrentDetails('Asking about one CFE that was rejected for E06, as support wants.');
    const { kind: outcome, ...said } = await supportCfe(act);
    setCurrentDetails(`Ended: ${said.message}`);
    return { outcome, ...said };
  }
  setCurrentDetails('Asking about the CFEs that were rejected for E06 alone.');
  const { kind: _, ...counts } = await askAboutAll();
  setCurrentDetails(
    `Ended: accepted: ${counts.accepted}, annulled: ${counts.annulled}, still undecided: ${counts.undecided}, without an answer: ${counts.unanswered}.`,
  );
  return counts;
}

const loadEntries = activity('loadDirectory', {
  ...OTHER_CALL,
  startToCloseTimeout: OWN_LONG.startToCloseTimeout,
  summary: 'Load the electronic issuers that came or changed',
});

/**
 * Loads the authority's list of electronic issuers, whole the first time, then its changes. Ends with how many entries
 * came, or null where no enterprise is there to ask for it.
 */
export async function loadDirectory(): Promise<{ entries: number | null }> {
  setCurrentDetails('Asking the authority for its list of electronic issuers; repeated until it answers.');
  const loaded = await loadEntries();
  const entries = loaded.kind === 'loaded' ? loaded.entries : null;
  setCurrentDetails(
    entries === null ? 'Ended: no enterprise is READY, to ask with.' : `Ended: entries told: ${entries}.`,
  );
  return { entries };
}

const deleteExpired = activity('deleteExpired', {
  ...OWN_LONG,
  summary: 'Take out the rows whose time is over',
});

/** Takes out what is kept for a time only; ends with how many rows of each table went. */
export async function purgeExpired(): Promise<Purged> {
  setCurrentDetails('Taking out the rows whose time is over, in batches.');
  const { rows } = await deleteExpired();
  setCurrentDetails('Ended.');
  return rows;
}

const startReports = activity('startReports', {
  ...OWN_LONG,
  summary: 'Store the days that are due; start their reports',
});

/**
 * Starts the reports of the days that are due, enterprise by enterprise, no faster than the authority takes them beside
 * CFEs; ends with how many were started.
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

const recover = activity('recoverRuns', {
  ...OWN_LONG,
  summary: 'Look at what is not ended, and start what has no run',
});

/**
 * Starts again whatever our rows say is not ended and has no run, as after a Terminate; ends with how many were started.
 */
export async function recoverRuns(): Promise<{ recovered: number }> {
  setCurrentDetails('Looking for what is not ended and has no run.');
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
  ...OWN_LONG,
  summary: 'Look whose certificate or CAE has expired',
});

/**
 * Tells the webhooks of every enterprise, once, that a certificate or a CAE has expired by date, and sends the warnings
 * that are due; ends with how many enterprises were told.
 */
export async function tellExpiries(): Promise<{ told: number }> {
  setCurrentDetails('Looking for certificates and CAEs that passed their date.');
  const { enterprises } = await recordExpiries();
  setCurrentDetails(`Ended: enterprises told: ${enterprises}.`);
  return { told: enterprises };
}
