import type { EntityManager } from '@mikro-orm/postgresql';
import type { DailyReport, ReportSubmission } from '../../db/entities/reports.ts';
import { findRequestOutcome, recordOutcome } from '../../db/operations/audit.ts';
import { listSubmissions, lockReport, moveReport } from '../../db/reports/dailyReports.ts';
import type { ListReportsAnswer } from '../../dgi/client.ts';
import { findListedReport, toFindReportAnswer } from '../../dgi/otherAnswers.ts';
import type { SupportResult } from '../../domain/authority/activityResults.ts';
import type { Activity, ReportSupportAct } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';
import { type AskingDeps, withReportCredentials } from './reports.ts';

const refused = (message: string): SupportResult => ({ kind: 'refused', message });
const RETRIED: SupportResult = {
  kind: 'retried',
  message: 'The day is looked at again now, with the present data, and the stuck step is retried.',
};
const RESULT_LOST =
  'The worker that did this crashed before it could report more; `report show` has the present state of the report.';

/**
 * Executes an action of support on a stuck report and audits result and author, in one transaction.
 * Settle accepts the authority's state of the day and sends nothing.
 */
export function createSupportReport(deps: AskingDeps): Activity<'supportReport'> {
  return (act) => withHeartbeat(() => support(deps, act));
}

async function support(deps: AskingDeps, act: ReportSupportAct): Promise<SupportResult> {
  if (act.action === 'abandon') {
    return runAudited(deps, act, async () =>
      refused('A report cannot be abandoned: the day must be reported.'),
    );
  }
  if (act.action === 'retry') {
    return runAudited(deps, act, async (_, report) => {
      report.isComplete = false;
      report.acceptedAsIs = false;
      return RETRIED;
    });
  }
  const { environment, date } = act.report;
  const listed = await withReportCredentials(deps, act.report, (credentials) =>
    deps.client.listReports(credentials, environment, date),
  );
  return runAudited(deps, act, (em, report, now) => settle(em, report, listed, now));
}

const isUnderWay = ({ status }: ReportSubmission): boolean => status === 'PREPARED' || status === 'SENT';

/** Runs `work` and writes the audit with the report locked; a repeated request is not executed again. */
async function runAudited(
  deps: AskingDeps,
  { report: key, requestId, action, by, reason }: ReportSupportAct,
  work: (em: EntityManager, report: DailyReport, now: Date) => Promise<SupportResult>,
): Promise<SupportResult> {
  const result = await deps.orm.em.fork().transactional(async (em): Promise<SupportResult> => {
    const report = await lockReport(em, key);
    const subject = report.workflowId;
    const before = await findRequestOutcome(em, { requestId, subject });
    if (before) return { kind: before, message: RESULT_LOST };
    const now = deps.clock();
    const done = await work(em, report, now);
    if (done.kind !== 'refused') {
      report.stuckReason = null;
      report.undecidedSince = null;
    }
    const audit = { action: `report.${action}` as const, subject, rut: key.rut, requestId };
    await recordOutcome(em, { ...audit, outcome: done.kind, said: [by, reason] }, now);
    return done;
  });
  deps.outbox.scheduleDispatch();
  return result;
}

async function settle(
  em: EntityManager,
  report: DailyReport,
  listed: ListReportsAnswer,
  now: Date,
): Promise<SupportResult> {
  if (listed.kind === 'repeat') {
    return refused(
      `The authority gave no answer to go by (${listed.description}); nothing was changed. Ask again later.`,
    );
  }
  if (listed.kind === 'stuck') return refused(listed.explanation);
  const submissions = await listSubmissions(em, report);
  const ours = submissions
    .map((submission) => ({
      submission,
      answer: toFindReportAnswer(findListedReport(listed.reports, submission.idEmisor)),
    }))
    .filter(({ answer }) => answer.kind === 'taken')
    .toSorted((a, b) => b.submission.sequence - a.submission.sequence)[0];
  const end = (to: Parameters<typeof moveReport>[2]) => {
    // A submission that the authority does not have is not sent any more; a correction may need its sequence.
    for (const submission of submissions)
      if (isUnderWay(submission) && submission !== ours?.submission) submission.status = 'REFUSED';
    return acceptAs(em, report, to, now);
  };
  const known = new Set(submissions.map(({ idEmisor }) => idEmisor.toString()));
  const others = listed.reports.some(({ state, idEmisor }) => state !== 'BR' && !known.has(idEmisor));
  if (ours?.answer.kind === 'taken') {
    const { submission, answer } = ours;
    submission.status = answer.status;
    submission.authorityId = answer.authorityId;
    submission.answeredAt ??= now;
    await end({ status: answer.status, sequence: submission.sequence });
    return {
      kind: 'settled',
      message: `Left as the authority has it: ${answer.status}, sequence ${submission.sequence}.`,
    };
  }
  if (others) {
    await end({ status: 'SUPERSEDED', sequence: report.sequence });
    return { kind: 'settled', message: 'Left as the authority has it: the report of another system counts.' };
  }
  return refused('The authority has no report of this day: correct what it refused, then retry.');
}

/**
 * Accepts the authority's state of the report, even if it contradicts the day's rows. A report that the
 * authority has yet to compare is still asked about.
 */
async function acceptAs(
  em: EntityManager,
  report: DailyReport,
  to: Parameters<typeof moveReport>[2],
  now: Date,
): Promise<void> {
  report.isComplete = true;
  report.acceptedAsIs = true;
  report.sendNow = false;
  report.lookedAt = now;
  await moveReport(em, report, to, now);
}
