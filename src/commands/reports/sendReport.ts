import type { EntityManager } from '@mikro-orm/postgresql';
import type { DailyReport } from '../../db/entities/reports.ts';
import { enqueue } from '../../db/outbox.ts';
import {
  findReportingDays,
  listSubmissions,
  lockReport,
  type ReportKey,
  reportDayMessage,
  storeOpenReports,
} from '../../db/reports/dailyReports.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { SIGNALS } from '../../temporal.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { requireKnownEnterprise } from '../steps/requireEnterprise.ts';

interface SendReportInput extends ReportKey {
  reason: string;
  /** The reason to send a day without a reporting obligation here: our report replaces another system's. */
  overrideOtherSystem?: string | undefined;
}

/**
 * Sends the report of a day at once, with the data known so far; later data corrects it. A day that the
 * authority already has unchanged is not sent again. Operators only. Throws NOT_FOUND for an unknown
 * enterprise, and INVALID_INPUT for a future day, a stuck report, and, unless overridden, a day without a
 * reporting obligation here.
 */
export async function sendReport(
  deps: CommandDeps,
  { reason, overrideOtherSystem, ...key }: SendReportInput,
): Promise<DailyReport> {
  const report = await deps.orm.em.fork().transactional(async (em) => {
    const { rut, environment, date } = key;
    await requireKnownEnterprise(em, rut);
    const now = deps.clock();
    if (date > montevideoDate(now))
      throw new Refusal(
        'INVALID_INPUT',
        `${date} is in the future: only today and earlier days can be reported.`,
      );
    const noObligation = await explainNoObligation(em, key);
    if (noObligation !== null && overrideOtherSystem === undefined) {
      const message = `${noObligation} Another system of the company may have reported ${date}, and this report would replace its report.`;
      throw new Refusal('INVALID_INPUT', message, {
        faults: [{ path: '', code: 'report.no_obligation', message }],
      });
    }
    await storeOpenReports(em, [key], now);
    const report = await lockReport(em, key);
    if (report.stuckReason !== null) {
      const verb = `report retry ${rut} ${date}`;
      throw new Refusal('INVALID_INPUT', `The report needs support (${report.stuckReason}): use ${verb}.`);
    }
    report.sendNow = true;
    report.isComplete = false;
    report.startedAt ??= now;
    enqueue(em, reportDayMessage(report, SIGNALS.lookAgain), now);
    const subject = `${environment} ${date}`;
    if (noObligation !== null && overrideOtherSystem !== undefined)
      auditAct(
        deps,
        em,
        { action: 'report.override_other_system', subject, rut, reason: overrideOtherSystem },
        now,
      );
    auditAct(deps, em, { action: 'report.send', subject, rut, reason }, now);
    return report;
  });
  deps.outbox.scheduleDispatch();
  return report;
}

/**
 * Explains why the enterprise has no reporting obligation here on a day; null when it has one, for the
 * sandbox, and for a day we have reported, because ended spans are not kept.
 */
async function explainNoObligation(
  em: EntityManager,
  { rut, environment, date }: ReportKey,
): Promise<string | null> {
  if (environment === 'sandbox') return null;
  if ((await listSubmissions(em, { rut, environment, date })).length > 0) return null;
  const days = await findReportingDays(em, rut);
  if (!days) return `${rut} has no daily reports here: it has never been READY.`;
  const { from, until } = days;
  if (date >= from && (until === null || date < until)) return null;
  const span = until === null ? `from ${from} on` : `from ${from} until ${until}, that day not included`;
  return `${rut} reports daily here ${span}.`;
}
