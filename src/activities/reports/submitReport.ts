import { setTimeout as sleep } from 'node:timers/promises';
import { DailyReport, type ReportSubmission } from '../../db/entities/reports.ts';
import {
  findLastSubmission,
  listSubmissions,
  markReportSending,
  type ReportKey,
} from '../../db/reports/dailyReports.ts';
import type { FindReportAnswer, SendReportAnswer } from '../../dgi/client.ts';
import type { AuthorityReason } from '../../dgi/xml/ack.ts';
import type { SubmitReportResult } from '../../domain/authority/activityResults.ts';
import { DEADLINES } from '../../domain/authority/deadlines.ts';
import { isTaken } from '../../domain/reports/reportStatus.ts';
import { onNextWorkingDay } from '../../domain/reports/workingDays.ts';
import { failpoint } from '../../failpoints.ts';
import type { ReportSlots } from '../../gate/reportSlots.ts';
import type { Activity } from '../activities.ts';
import { notYet, withHeartbeat, yieldToCfes } from '../authority/attempt.ts';
import {
  type AskingDeps,
  reportUndecidedForTooLong,
  retryOrEscalateReport,
  storeReportAnswer,
  withReportCredentials,
} from './reports.ts';

export interface SubmitReportDeps extends AskingDeps {
  /** `HH:MM` on the next working day, from when on a report no longer waits behind CFEs. */
  latest: string;
  /** Rate limiter for reports. */
  slots: ReportSlots;
}

/** After R06 (by the authority's clock the day has not started) the report is sent again after this pause. */
const EARLY_MILLISECONDS = 600_000;

const OTHER_SYSTEM = {
  reason: 'report.other_system',
  explanation:
    'The authority holds a report of this day from another system of the company, or one of ours that this database does not know (docs/backup.md). It is not overwritten. Find out who reports: stop the other system, or us (`report stop`). Settle leaves the day as the authority has it; retry sends again.',
} as const;

/**
 * Sends the prepared report. The intent is stored first; after an unclear send the authority is asked before
 * the same bytes go out again.
 */
export function createSubmitReport(deps: SubmitReportDeps): Activity<'submitReport'> {
  return (key) => withHeartbeat(() => submit(deps, key));
}

async function submit(deps: SubmitReportDeps, key: ReportKey): Promise<SubmitReportResult> {
  const em = deps.orm.em.fork();
  const submission = await findLastSubmission(em, key);
  const report = await em.findOneOrFail(DailyReport, { ...key });
  const isUnderWay = submission?.status === 'PREPARED' || submission?.status === 'SENT';
  if (!isUnderWay || report.acceptedAsIs) return { kind: 'answered', status: report.status };
  await em.populate(submission, ['xml']);
  if (submission.status === 'PREPARED') return send(deps, submission);
  const answer = await findSubmission(deps, submission);
  failpoint('report.found');
  return answer.kind === 'absent' ? send(deps, submission) : afterAsking(deps, submission, answer);
}

const findSubmission = (deps: SubmitReportDeps, submission: ReportSubmission): Promise<FindReportAnswer> =>
  withReportCredentials(deps, submission, (credentials) =>
    deps.client.findReport(credentials, submission.environment, submission),
  );

/** Handles the authority's state of a report whose send had an unclear result. */
async function afterAsking(
  deps: SubmitReportDeps,
  submission: ReportSubmission,
  answer: Exclude<FindReportAnswer, { kind: 'absent' }>,
): Promise<SubmitReportResult> {
  switch (answer.kind) {
    case 'taken': {
      const { authorityId, status: to } = answer;
      const { status } = await storeReportAnswer(deps, submission, { to, authorityId });
      return { kind: 'answered', status };
    }
    case 'refused': {
      const { environment, idEmisor } = submission;
      const firstAnswer = await withReportCredentials(deps, submission, (credentials) =>
        deps.client.readReportAnswer(credentials, environment, { idEmisor, authorityId: answer.authorityId }),
      );
      return afterAnswer(deps, submission, firstAnswer);
    }
    case 'repeat':
    case 'stuck':
      return retryOrEscalateReport(deps, submission, answer);
  }
}

async function send(deps: SubmitReportDeps, submission: ReportSubmission): Promise<SubmitReportResult> {
  const { environment, date, idEmisor, xml } = submission;
  const isUrgent = deps.clock() >= onNextWorkingDay(date, deps.latest);
  const slot = await deps.slots.take(environment, { isUrgent });
  if (slot === 'cfesFirst') throw yieldToCfes();
  await sleep(slot.waitMilliseconds);
  const now = deps.clock();
  if (!(await markReportSending(deps.orm.em.fork(), submission, now)))
    throw notYet('Another attempt is sending this report.', 1_000);
  failpoint('report.sendingStored');
  const leaveBy = new Date(now.getTime() + DEADLINES.sendLeaves);
  const answer = await withReportCredentials(deps, submission, (credentials) =>
    deps.client.sendReport(credentials, environment, { idEmisor, xml: xml ?? '', leaveBy }),
  );
  failpoint('report.answered');
  return afterAnswer(deps, submission, answer);
}

async function afterAnswer(
  deps: SubmitReportDeps,
  submission: ReportSubmission,
  answer: SendReportAnswer,
): Promise<SubmitReportResult> {
  switch (answer.kind) {
    case 'received': {
      const { status } = await storeReportAnswer(deps, submission, { to: 'RECEIVED', ...answer });
      failpoint('report.answerStored');
      return { kind: 'answered', status };
    }
    case 'refused': {
      const { stuck, ...result } = answer;
      await storeReportAnswer(deps, submission, { to: 'REFUSED', ...result, stuck: stuck.reason });
      failpoint('report.answerStored');
      return { kind: 'stuck', ...stuck };
    }
    case 'early':
      await storeReportAnswer(deps, submission, { to: 'REFUSED', ...answer });
      return { kind: 'again', milliseconds: EARLY_MILLISECONDS };
    case 'sequence':
      return afterSequence(deps, submission, answer);
    case 'duplicate':
      return afterDuplicate(deps, submission);
    case 'fateUnknown': // it stays SENT, so that the next attempt asks first
    case 'repeat':
    case 'stuck':
      return retryOrEscalateReport(deps, submission, answer);
  }
}

/** The authority already has the report, from a send whose answer was lost; its list has the number. */
async function afterDuplicate(
  deps: SubmitReportDeps,
  submission: ReportSubmission,
): Promise<SubmitReportResult> {
  const answer = await findSubmission(deps, submission);
  if (answer.kind !== 'absent') return afterAsking(deps, submission, answer);
  // Another report may have the sequence; the list shows it.
  return afterSequence(deps, submission, { reasons: [], authorityId: null });
}

/**
 * R05: the sequence is not the expected one. Adopts the authority's sequence only if every accepted report in its list is ours:
 * the report of another system is never overwritten.
 */
async function afterSequence(
  deps: SubmitReportDeps,
  submission: ReportSubmission,
  { reasons, authorityId }: { reasons: readonly AuthorityReason[]; authorityId: string | null },
): Promise<SubmitReportResult> {
  const { environment, date } = submission;
  const listed = await withReportCredentials(deps, submission, (credentials) =>
    deps.client.listReports(credentials, environment, date),
  );
  if (listed.kind !== 'listed') return retryOrEscalateReport(deps, submission, listed);
  const ours = await listSubmissions(deps.orm.em.fork(), submission);
  const sequenceOf = new Map(ours.map(({ idEmisor, sequence }) => [idEmisor.toString(), sequence]));
  const taken = listed.reports.filter(({ state }) => state !== 'BR');
  const isListed = taken.some(({ idEmisor }) => idEmisor === submission.idEmisor.toString());
  if (isListed) {
    // The refused send repeated these bytes: the authority took them the first time.
    const answer = await findSubmission(deps, submission);
    return answer.kind === 'absent'
      ? retryOrEscalateReport(deps, submission, {
          kind: 'repeat',
          description: 'listed and not found',
          reached: true,
        })
      : afterAsking(deps, submission, answer);
  }
  const sequences = taken.map(({ idEmisor }) => sequenceOf.get(idEmisor));
  const highest = sequences.every((sequence) => sequence !== undefined) ? Math.max(0, ...sequences) : null;
  const next = highest === null ? null : highest + 1;
  // A list without our accepted reports lags behind.
  const ourHighest = Math.max(
    0,
    ...ours.filter(({ status }) => isTaken(status)).map(({ sequence }) => sequence),
  );
  const lags = taken.length === 0 || (next !== null && next <= ourHighest);
  const isKnown = next !== null && !lags && next !== submission.sequence;
  const refused = { to: 'REFUSED', reasons, authorityId } as const;
  if (isKnown) {
    await storeReportAnswer(deps, submission, { ...refused, nextSequence: next });
    return { kind: 'again', milliseconds: 0 };
  }
  if (lags && (await mayListLag(deps, submission)))
    throw notYet('The authority does not say which sequence is free yet.', 60_000);
  await storeReportAnswer(deps, submission, { ...refused, stuck: OTHER_SYSTEM.reason });
  return { kind: 'stuck', ...OTHER_SYSTEM };
}

/** Returns whether the list may still lag behind: our patience limits the wait. */
async function mayListLag(deps: SubmitReportDeps, submission: ReportSubmission): Promise<boolean> {
  return !(await reportUndecidedForTooLong(deps, submission, true));
}
