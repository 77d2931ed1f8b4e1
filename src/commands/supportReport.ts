import { randomUUID } from 'node:crypto';
import { findReport, type ReportKey } from '../db/dailyReports.ts';
import type { DailyReport } from '../db/entities/reports.ts';
import { Refusal } from '../errors.ts';
import { recordAsk, type SupportCfeDeps } from './supportCfe.ts';

/** The outcome of asking, and the report afterwards. */
export interface SupportedReport {
  report: DailyReport;
  outcome: string;
  message: string;
}

/**
 * Asks the workflow of a stuck report to act. One that is not stuck is left alone, and its message says so. Who asks and why
 * is in the audit before the workflow is asked; the workflow adds the outcome. Refuses a day without a report (NOT_FOUND).
 */
export async function supportReport(
  deps: Pick<SupportCfeDeps, 'orm' | 'actor' | 'origin' | 'clock' | 'askSupport'>,
  {
    key,
    action,
    reason,
    requestId = randomUUID(),
  }: { key: ReportKey; action: 'retry' | 'settle'; reason: string; requestId?: string },
): Promise<SupportedReport> {
  const { workflowId, rut } = await existingReport(deps, key);
  await recordAsk(deps, { action: `report.${action}`, subject: workflowId, rut, reason, requestId });
  const answer = await deps.askSupport(workflowId, { action, requestId });
  const report = await existingReport(deps, key);
  if (answer.outcome !== 'nothing_to_do') return { report, ...answer };
  const message = answer.runs
    ? `Nothing to do: it is ${report.status}, is not stuck, and goes on by itself.`
    : `Nothing was done: it is ${report.status}, and its workflow does not run. \`report send\` looks at the day again.`;
  return { report, outcome: answer.outcome, message };
}

/** The report of a day; refuses where there is none (NOT_FOUND). */
export async function existingReport(
  { orm }: Pick<SupportCfeDeps, 'orm'>,
  { rut, environment, date }: ReportKey,
): Promise<DailyReport> {
  const report = await findReport(orm.em.fork(), { rut, environment, date });
  if (!report)
    throw new Refusal('NOT_FOUND', `The enterprise ${rut} has no report of ${date} in ${environment}.`);
  return report;
}
