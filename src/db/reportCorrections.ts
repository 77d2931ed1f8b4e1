/** Days that were changed after their report was put together. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { SIGNALS } from '../temporal.ts';
import { type ReportKey, reportDayMessage } from './dailyReports.ts';
import { DailyReport } from './entities/DailyReport.ts';
import { enqueue } from './outbox.ts';

/** An annulment is visible when its transaction commits, which may be so long after its moment. */
const COMMITS_WITHIN = '10 minutes';
/** Nothing that changes a day is decided later: E06 has 60 days. */
const LOOKED_BACK = '70 days';

/**
 * Wakes the reports that count as complete and whose day got an annulment since they were put together, or, where support
 * settled them before all was known, a verdict; and those that are incomplete and not stuck: each looks again, and corrects
 * itself where what it would tell has changed. How many.
 * Whatever waits for a verdict wakes by itself too; this is for what nobody could wait for.
 */
export async function wakeCorrected(em: EntityManager, now: Date): Promise<number> {
  return em.transactional(async (open) => {
    const keys = await open.execute<ReportKey[]>(
      `with due as (
         select rut, environment, date from daily_report where not is_complete and status not in ('OPEN', 'SENT')
         union
         select one.rut, one.environment, one.date from annulment a
           join daily_report one on one.rut = a.rut and one.environment = a.environment and one.date = a.report_date
         where a.annulled_at > ?::timestamptz - interval '${LOOKED_BACK}' and one.is_complete
           and a.annulled_at > one.looked_at - interval '${COMMITS_WITHIN}'
         union
         select rut, environment, date from daily_report settled where is_complete and accepted_as_is
           and date > (?::timestamptz at time zone 'UTC' - interval '3 hours ${LOOKED_BACK}')::date
           and exists (select from cfe where cfe.rut = settled.rut and cfe.environment = settled.environment
             and left(cfe.document ->> 'signedAt', 10) = settled.date::text
             and cfe.settled_at > settled.looked_at - interval '${COMMITS_WITHIN}')
       ), locked as materialized (
         -- By day, as those do that go on from one day to the next.
         select rut, environment, date from daily_report join due using (rut, environment, date)
         where stuck_reason is null order by rut, environment, date for update of daily_report
       )
       update daily_report report set is_complete = false from locked
       where (report.rut, report.environment, report.date) = (locked.rut, locked.environment, locked.date)
       returning report.rut, report.environment, report.date::text as date`,
      [now.toISOString(), now.toISOString()],
    );
    for (const key of keys) {
      const { status } = await open.findOneOrFail(DailyReport, key);
      enqueue(open, reportDayMessage({ ...key, status }, SIGNALS.lookAgain), now);
    }
    return keys.length;
  });
}
