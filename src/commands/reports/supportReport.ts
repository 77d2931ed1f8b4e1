import { randomUUID } from 'node:crypto';
import type { DailyReport } from '../../db/entities/reports.ts';
import { findReport, type ReportKey } from '../../db/reports/dailyReports.ts';
import { Refusal } from '../../errors.ts';
import { auditSupportRequest, type SupportCfeDeps } from '../operations/supportCfe.ts';

/** The outcome of a support request, and the report afterwards. */
export interface SupportedReport {
  report: DailyReport;
  outcome: string;
  message: string;
}

/**
 * Asks the workflow of a stuck report to act; for a report that is not stuck, returns a message with the reason. The request
 * is audited first; the workflow adds the outcome. Throws NOT_FOUND for a day without a report.
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
  const { workflowId, rut } = await requireReport(deps, key);
  await auditSupportRequest(deps, {
    action: `report.${action}`,
    subject: workflowId,
    rut,
    reason,
    requestId,
  });
  const answer = await deps.askSupport(workflowId, { action, requestId });
  const report = await requireReport(deps, key);
  if (answer.outcome !== 'nothing_to_do') return { report, ...answer };
  const message = answer.runs
    ? `Nothing to do: it is ${report.status}, is not stuck, and continues automatically.`
    : `Nothing was done: it is ${report.status}, and its workflow is not running. \`report send\` checks the day again.`;
  return { report, outcome: answer.outcome, message };
}

/** Returns the report of a day. Throws NOT_FOUND without one. */
export async function requireReport(
  { orm }: Pick<SupportCfeDeps, 'orm'>,
  { rut, environment, date }: ReportKey,
): Promise<DailyReport> {
  const report = await findReport(orm.em.fork(), { rut, environment, date });
  if (!report)
    throw new Refusal('NOT_FOUND', `The enterprise ${rut} has no report of ${date} in ${environment}.`);
  return report;
}
