import type { ReportingObligation } from '../../db/entities/reports.ts';
import { setReportingDays as set } from '../../db/reports/dailyReports.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { requireLockedEnterprise } from '../steps/requireEnterprise.ts';

/**
 * Sets the first day on which we report for an enterprise (`start`), or no longer do (`stop`); we must not
 * report where another system does. Operators only. Throws NOT_FOUND for an unknown enterprise.
 */
export function changeReportingObligation(
  deps: CommandDeps,
  { act, rut, from, reason }: { act: 'start' | 'stop'; rut: string; from: string; reason: string },
): Promise<ReportingObligation> {
  return deps.orm.em.fork().transactional(async (em) => {
    await requireLockedEnterprise(em, rut);
    const obligation = await set(em, rut, act === 'start' ? { from } : { until: from });
    auditAct(deps, em, { action: `report.${act}`, subject: `${rut} ${from}`, rut, reason }, deps.clock());
    return obligation;
  });
}
