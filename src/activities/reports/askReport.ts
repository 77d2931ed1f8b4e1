import { findReport, type ReportKey } from '../../db/reports/dailyReports.ts';
import { classifyUnclear } from '../../dgi/outcomes.ts';
import type { AskReportResult } from '../../domain/authority/activityResults.ts';
import { failpoint } from '../../failpoints.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';
import {
  type AskingDeps,
  escalateReport,
  findLastTaken,
  retryOrEscalateReport,
  storeReportAnswer,
  withReportCredentials,
} from './reports.ts';

const DIFFERS = {
  reason: 'report.differs',
  explanation:
    'The authority finds that the report differs from the CFEs that it holds (ER); it does not say in what. Compare `report show` with its portal. Retry looks at the day again, corrects the report if it has changed, and asks again; settle leaves the day as the authority has it.',
} as const;

/**
 * Asks the authority for its result on a received report. If it differs (ER) and the day is complete, the
 * report needs support.
 */
export function createAskReport(deps: AskingDeps): Activity<'askReport'> {
  return (key) => withHeartbeat(() => askResult(deps, key));
}

async function askResult(deps: AskingDeps, key: ReportKey): Promise<AskReportResult> {
  const em = deps.orm.em.fork();
  const report = await findReport(em, key);
  if (report?.acceptedAsIs && report.status !== 'RECEIVED') return { kind: 'asked', status: report.status };
  const submission = await findLastTaken(em, key);
  if (!report || !submission)
    throw new Error(`there is no report of ${key.rut} for ${key.date} to ask about`);
  const answer = await withReportCredentials(deps, key, (credentials) =>
    deps.client.findReport(credentials, key.environment, submission),
  );
  failpoint('report.asked');
  switch (answer.kind) {
    case 'taken': {
      const { status: to, authorityId } = answer;
      const { status, isComplete } = await storeReportAnswer(deps, submission, { to, authorityId });
      return status === 'DIFFERS' && isComplete
        ? escalateReport(deps, key, DIFFERS)
        : { kind: 'asked', status };
    }
    case 'refused':
    case 'absent': {
      const stuck = classifyUnclear('findReport', 'other state', 'it was received and is not listed as such');
      return retryOrEscalateReport(deps, key, stuck);
    }
    case 'repeat':
    case 'stuck':
      return retryOrEscalateReport(deps, key, answer);
  }
}
