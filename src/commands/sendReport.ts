import type { ReportKey } from '../db/dailyReports.ts';
import { lockReport, reportDayMessage, storeOpenReports } from '../db/dailyReports.ts';
import { findEnterprise } from '../db/enterprises.ts';
import type { DailyReport } from '../db/entities/DailyReport.ts';
import { enqueue } from '../db/outbox.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { Refusal } from '../errors.ts';
import { SIGNALS } from '../temporal.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Has the report of a day sent at once, with what is known of it; what comes later corrects it. A day that the authority
 * has as it is is not sent again. An operator's act. Refuses an unknown enterprise (NOT_FOUND), a day to come, and a
 * report that waits for a person (INVALID_INPUT).
 */
export async function sendReport(
  deps: CommandDeps,
  { reason, ...key }: ReportKey & { reason: string },
): Promise<DailyReport> {
  const report = await deps.orm.em.fork().transactional(async (em) => {
    const { rut, environment, date } = key;
    if (!(await findEnterprise(em, rut)))
      throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    const now = deps.clock();
    if (date > montevideoDate(now))
      throw new Refusal('INVALID_INPUT', `${date} is still to come: a report is of today or an earlier day.`);
    await storeOpenReports(em, [key], now);
    const report = await lockReport(em, key);
    if (report.stuckReason !== null) {
      const how = `report retry ${rut} ${date}`;
      throw new Refusal(
        'INVALID_INPUT',
        `The report waits for a person (${report.stuckReason}): use ${how}.`,
      );
    }
    report.sendNow = true;
    report.isComplete = false;
    report.startedAt ??= now;
    enqueue(em, reportDayMessage(report, SIGNALS.lookAgain), now);
    const subject = `${environment} ${date}`;
    audited(deps, em, { action: 'report.send', subject, rut, reason }, now);
    return report;
  });
  deps.outbox.dispatchSoon();
  return report;
}
