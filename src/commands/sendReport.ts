import type { EntityManager } from '@mikro-orm/postgresql';
import {
  findReportingDays,
  listSubmissions,
  lockReport,
  type ReportKey,
  reportDayMessage,
  storeOpenReports,
} from '../db/dailyReports.ts';
import { findEnterprise } from '../db/enterprises.ts';
import type { DailyReport } from '../db/entities/reports.ts';
import { enqueue } from '../db/outbox.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { Refusal } from '../errors.ts';
import { SIGNALS } from '../temporal.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

interface SendReportInput extends ReportKey {
  reason: string;
  /** Why a day is sent on which the enterprise has no duty here: our report takes the place of another system's. */
  overrideOtherSystem?: string | undefined;
}

/**
 * Has the report of a day sent at once, with what is known of it; what comes later corrects it. A day that the authority
 * has as it is is not sent again. An operator's act. Refuses an unknown enterprise (NOT_FOUND), a day to come, a report
 * that waits for a person, and a day on which the enterprise has no duty here, unless that is overridden (INVALID_INPUT).
 */
export async function sendReport(
  deps: CommandDeps,
  { reason, overrideOtherSystem, ...key }: SendReportInput,
): Promise<DailyReport> {
  const report = await deps.orm.em.fork().transactional(async (em) => {
    const { rut, environment, date } = key;
    if (!(await findEnterprise(em, rut)))
      throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    const now = deps.clock();
    if (date > montevideoDate(now))
      throw new Refusal('INVALID_INPUT', `${date} is still to come: a report is of today or an earlier day.`);
    const noDuty = await whyNoDuty(em, key);
    if (noDuty !== null && overrideOtherSystem === undefined) {
      const message = `${noDuty} Another system of the company may have reported ${date}, and this report would take the place of its report.`;
      throw new Refusal('INVALID_INPUT', message, {
        faults: [{ path: '', code: 'report.no_duty', message }],
      });
    }
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
    if (noDuty !== null && overrideOtherSystem !== undefined)
      audited(
        deps,
        em,
        { action: 'report.override_other_system', subject, rut, reason: overrideOtherSystem },
        now,
      );
    audited(deps, em, { action: 'report.send', subject, rut, reason }, now);
    return report;
  });
  deps.outbox.scheduleDispatch();
  return report;
}

/**
 * Why the enterprise has no duty here on a day, in a sentence; null where it has, in the sandbox, which has none, and for a
 * day that we have reported: a span of duty that has ended since is not kept.
 */
async function whyNoDuty(em: EntityManager, { rut, environment, date }: ReportKey): Promise<string | null> {
  if (environment === 'sandbox') return null;
  if ((await listSubmissions(em, { rut, environment, date })).length > 0) return null;
  const days = await findReportingDays(em, rut);
  if (!days) return `${rut} has no daily reports here: it has never been READY.`;
  const { from, until } = days;
  if (date >= from && (until === null || date < until)) return null;
  const span = until === null ? `from ${from} on` : `from ${from} until ${until}, that day not included`;
  return `${rut} has its daily reports here ${span}.`;
}
