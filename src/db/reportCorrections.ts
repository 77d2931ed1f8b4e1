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
 * Wakes the reports that count as complete and whose day got an annulment since they were put together, and those that
 * are incomplete and not stuck: each looks again, and corrects itself where what it would tell has changed. How many.
 * Whatever waits for a verdict wakes by itself too; this is for what nobody could wait for.
 */
export async function wakeCorrected(em: EntityManager, now: Date): Promise<number> {
  return em.transactional(async (open) => {
    const keys = await open.execute<ReportKey[]>(
      `update daily_report report set is_complete = false
       where stuck_reason is null and (rut, environment, date) in (
         select rut, environment, date from daily_report where not is_complete and status not in ('OPEN', 'SENT')
         union
         select one.rut, one.environment, one.date from annulment a
           join daily_report one on one.rut = a.rut and one.environment = a.environment and one.date = a.report_date
         where a.annulled_at > ?::timestamptz - interval '${LOOKED_BACK}' and one.is_complete
           and a.annulled_at > one.looked_at - interval '${COMMITS_WITHIN}')
       returning rut, environment, date::text as date`,
      [now.toISOString()],
    );
    for (const key of keys) {
      const { status } = await open.findOneOrFail(DailyReport, key);
      enqueue(open, reportDayMessage({ ...key, status }, SIGNALS.lookAgain), now);
    }
    return keys.length;
  });
}
