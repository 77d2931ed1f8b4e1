import { setReportingDays as set } from '../db/dailyReports.ts';
import { lockEnterprise } from '../db/enterprises.ts';
import type { ReportDuty } from '../db/entities/reports.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Sets the first day that we report for an enterprise (`start`), or the first that we report no more (`stop`): where
 * another system of the company reports, we must not. An operator's act. Refuses an unknown enterprise (NOT_FOUND).
 */
export function setReportDuty(
  deps: CommandDeps,
  { act, rut, from, reason }: { act: 'start' | 'stop'; rut: string; from: string; reason: string },
): Promise<ReportDuty> {
  return deps.orm.em.fork().transactional(async (em) => {
    if (!(await lockEnterprise(em, rut)))
      throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    const duty = await set(em, rut, act === 'start' ? { from } : { until: from });
    audited(deps, em, { action: `report.${act}`, subject: `${rut} ${from}`, rut, reason }, deps.clock());
    return duty;
  });
}
