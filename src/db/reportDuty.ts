/** From when on enterprises are reported for, and the days that are due. */
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { addDays } from '../domain/montevideo.ts';
import { Refusal } from '../errors.ts';
import { startNextReport, storeOpenReports } from './dailyReports.ts';
import { ReportDuty } from './entities/ReportDuty.ts';

/** Days of an enterprise whose rows are stored at a time: a year's. */
const MOST_DAYS = 400;

/** Notes, with the open transaction, that an enterprise has become READY on that day; the first time counts. */
export async function beginReportDuty(em: EntityManager, rut: string, date: string): Promise<void> {
  await em.execute(
    'insert into report_duty (rut, from_date, next_date) values (?, ?, ?) on conflict do nothing',
    [rut, date, date],
  );
}

/**
 * For enterprises that a program of the version before made READY during an update: their duty begins with that day.
 */
export async function beginMissingDuties(em: EntityManager, date: string): Promise<void> {
  await em.execute(
    `insert into report_duty (rut, from_date, next_date)
     select rut, ?::date, ?::date from enterprise where status = 'READY' on conflict do nothing`,
    [date, date],
  );
}

/**
 * Sets the days for which we report: from `from` on until `until`, exclusive. Refuses (INVALID_INPUT) a first day that would
 * leave out days before an earlier `until` that are still to be stored.
 */
export async function setReportDuty(
  em: EntityManager,
  rut: string,
  days: { from: string } | { until: string },
): Promise<ReportDuty> {
  const found = await em.findOne(
    ReportDuty,
    { rut },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if ('from' in days) {
    const values = { fromDate: days.from, untilDate: null, nextDate: days.from };
    if (!found) return em.create(ReportDuty, { rut, ...values });
    const { untilDate, fromDate, nextDate } = found;
    if (untilDate === null) {
      await takeBack(em, rut, { from: fromDate, until: days.from });
    } else if (nextDate < untilDate) {
      if (days.from > untilDate)
        throw new Refusal(
          'INVALID_INPUT',
          `We report until ${untilDate}, and not all of those days are in hand yet: start again once they are.`,
        );
      if (nextDate < days.from) values.nextDate = nextDate;
    }
    return em.assign(found, values);
  }
  const { until } = days;
  await takeBack(em, rut, { from: until, until: null });
  if (found) return em.assign(found, { untilDate: until });
  return em.create(ReportDuty, { rut, fromDate: until, untilDate: until, nextDate: until });
}

/** Days that were not sent are another system's now; a run that waits for one finds no row, and ends. */
async function takeBack(
  em: EntityManager,
  rut: string,
  { from, until }: { from: string; until: string | null },
): Promise<void> {
  await em.execute(
    `delete from daily_report report where rut = ? and environment = 'production' and date >= ?::date
       and (?::date is null or date < ?::date)
       and status = 'OPEN' and not send_now and not exists (select from report_submission submission
         where submission.rut = report.rut and submission.environment = report.environment
           and submission.date = report.date)`,
    [rut, from, until, until],
  );
}

/**
 * The RUTs, in order after `after`, of enterprises with a day to report that has no row yet, or whose report was not
 * begun; at most `limit`. `today`: in Montevideo; days before it are due.
 */
export async function rutsWithDueReports(
  em: EntityManager,
  { after, limit, today }: { after: string; limit: number; today: string },
): Promise<string[]> {
  const rows = await em.execute<{ rut: string }[]>(
    `select rut from (
       (select rut from report_duty where rut > ? and next_date < ?::date
          and (until_date is null or next_date < until_date) order by rut limit ?)
       union
       (select rut from daily_report where rut > ? and environment = 'production' and status = 'OPEN'
          and started_at is null group by rut order by rut limit ?)
     ) due order by rut limit ?`,
    [after, today, limit, after, limit, limit],
  );
  return rows.map(({ rut }) => rut);
}

/**
 * Stores the rows of an enterprise's days that are due, and starts the first report that may go; with the open
 * transaction. Whether one was started.
 */
export async function startDueReports(
  em: EntityManager,
  rut: string,
  { today, now }: { today: string; now: Date },
): Promise<boolean> {
  const [duty] = await em.execute<{ next: string; until: string }[]>(
    `select greatest(next_date, issuer_since)::text as next, least(until_date, ?::date)::text as until
     from report_duty join enterprise using (rut) where rut = ? for update of report_duty`,
    [today, rut],
  );
  if (duty && duty.next < duty.until) {
    const days: string[] = [];
    for (let date = duty.next; date < duty.until && days.length < MOST_DAYS; date = addDays(date, 1))
      days.push(date);
    await storeOpenReports(
      em,
      days.map((date) => ({ rut, environment: 'production', date })),
      now,
    );
    const next = addDays(days.at(-1) ?? duty.next, 1);
    await em.execute('update report_duty set next_date = ?::date where rut = ?', [next, rut]);
  }
  return startNextReport(em, rut, now);
}

/** From when on, and until when, we report for an enterprise; null before it was READY the first time. */
export const findReportDuty = (em: EntityManager, rut: string): Promise<ReportDuty | null> =>
  em.findOne(ReportDuty, { rut });
