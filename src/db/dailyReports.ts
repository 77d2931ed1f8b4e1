/** The reports of days and their submissions (docs/daily-report.md). */
import { type EntityManager, type FilterQuery, LockMode } from '@mikro-orm/postgresql';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import { addDays } from '../domain/montevideo.ts';
import { type ReportStatus, type SubmissionStatus, submissionCanBecome } from '../domain/reportStatus.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { dailyReportUpdated } from '../domain/webhookEvents.ts';
import { reportDueAt } from '../domain/workingDays.ts';
import { Refusal } from '../errors.ts';
import { reportWorkflowId, SIGNALS, type SignalName, type WorkflowMessage } from '../temporal.ts';
import { DailyReport, ReportDuty, ReportSubmission } from './entities/reports.ts';
import { recordEvent } from './events.ts';
import { enqueue } from './outbox.ts';

/** Names one report. */
export interface ReportKey {
  readonly rut: string;
  readonly environment: Environment;
  /** `YYYY-MM-DD`, in Montevideo. */
  readonly date: string;
}

/** Key columns only, of whatever else a value may hold. */
export const reportKey = ({ rut, environment, date }: ReportKey): ReportKey => ({ rut, environment, date });

/** The start of a report's workflow, or with `signal` that and the signal. */
export function reportDayMessage(
  report: ReportKey & { status: ReportStatus },
  signal?: SignalName,
): WorkflowMessage {
  const { rut, environment, date, status } = report;
  return {
    workflow: 'reportDay',
    workflowId: reportWorkflowId(report),
    input: { rut, environment, date },
    ...(signal ? { signal } : {}),
    searchAttributes: {
      EnterpriseRut: rut,
      Environment: environment,
      ReportDate: date,
      State: status,
    },
  };
}

/** Reports whose workflow has still something to do, or a person has. */
export const UNENDED_REPORTS = {
  $or: [
    { isComplete: false },
    { stuckReason: { $ne: null } },
    { status: { $in: ['OPEN', 'SENT', 'RECEIVED', 'REFUSED'] } },
    { status: 'DIFFERS', acceptedAsIs: false },
  ],
} satisfies FilterQuery<DailyReport>;

/** The report, or null. */
export function findReport(em: EntityManager, key: ReportKey): Promise<DailyReport | null> {
  return em.findOne(DailyReport, reportKey(key));
}

/** The report, locked until the open transaction ends; throws where there is none. */
export function lockReport(em: EntityManager, key: ReportKey): Promise<DailyReport> {
  return em.findOneOrFail(DailyReport, reportKey(key), {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    refresh: true,
  });
}

/** Its submissions, the first one first. */
export function listSubmissions(
  em: EntityManager,
  key: ReportKey,
  { populate = [] }: { populate?: ('xml' | 'types')[] } = {},
): Promise<ReportSubmission[]> {
  return em.find(ReportSubmission, reportKey(key), {
    orderBy: { id: 'asc' },
    populate,
  });
}

/** Its last submission; null before the first. */
export async function findLastSubmission(
  em: EntityManager,
  key: ReportKey,
): Promise<ReportSubmission | null> {
  const [last] = await em.find(ReportSubmission, reportKey(key), {
    orderBy: { id: 'desc' },
    limit: 1,
  });
  return last ?? null;
}

/** Which reports to list: every condition that is given must hold. */
export interface ReportFilter {
  rut?: string | undefined;
  environment?: Environment | undefined;
  status?: ReportStatus | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const matching = ({ rut, environment, status, from, to }: ReportFilter): FilterQuery<DailyReport> => ({
  ...(rut === undefined ? {} : { rut }),
  ...(environment === undefined ? {} : { environment }),
  ...(status === undefined ? {} : { status }),
  ...(from === undefined && to === undefined
    ? {}
    : { date: { ...(from === undefined ? {} : { $gte: from }), ...(to === undefined ? {} : { $lte: to }) } }),
});

/** The reports that match, the latest day first. */
export function listReports(
  em: EntityManager,
  filter: ReportFilter,
  { skip, limit }: { skip: number; limit: number },
): Promise<DailyReport[]> {
  return em.find(DailyReport, matching(filter), {
    orderBy: { date: 'desc', rut: 'asc', environment: 'asc' },
    offset: skip,
    limit,
  });
}

/** How many reports match. */
export function countReports(em: EntityManager, filter: ReportFilter): Promise<number> {
  return em.count(DailyReport, matching(filter));
}

/** Stores rows for days of an enterprise that have none, each OPEN and not begun. */
export async function storeOpenReports(
  em: EntityManager,
  days: readonly ReportKey[],
  now: Date,
): Promise<void> {
  const rows = days.map((day) => ({
    ...reportKey(day),
    due_at: reportDueAt(day.date).toISOString(),
    workflow_id: reportWorkflowId(day),
  }));
  await em.execute(
    `insert into daily_report (rut, environment, date, status, due_at, workflow_id, created_at)
     select rut, environment, date, 'OPEN', due_at, workflow_id, ?::timestamptz
     from jsonb_to_recordset(?::jsonb) as day
       (rut text, environment text, date date, due_at timestamptz, workflow_id text)
     on conflict do nothing`,
    [now.toISOString(), JSON.stringify(rows)],
  );
}

/**
 * Starts the earliest report of an enterprise that is due and was not begun, with the open transaction, unless one is
 * under way: days follow one another, but for those that wait for a person. Whether one was started.
 */
async function startNextReport(em: EntityManager, rut: string, now: Date): Promise<boolean> {
  const [next] = await em.execute<{ date: string }[]>(
    `update daily_report set started_at = ?::timestamptz
     where rut = ? and environment = 'production' and status = 'OPEN' and started_at is null
       and date = (select min(date) from daily_report
         where rut = ? and environment = 'production' and status = 'OPEN' and started_at is null)
       and not exists (select from daily_report underway
         where underway.rut = ? and underway.environment = 'production' and underway.status in ('OPEN', 'SENT')
           and underway.started_at is not null and underway.stuck_reason is null)
     returning date::text as date`,
    [now.toISOString(), rut, rut, rut],
  );
  if (!next) return false;
  const key = { rut, environment: 'production' as const, date: next.date };
  enqueue(em, reportDayMessage({ ...key, status: 'OPEN' }), now);
  return true;
}

/**
 * Moves a submission, and with it the report, which the open transaction has locked; customers' servers are told of
 * production's. False, and nothing changed, where it may not go there.
 */
export async function moveSubmission(
  em: EntityManager,
  { report, submission, to }: { report: DailyReport; submission: ReportSubmission; to: SubmissionStatus },
  now: Date,
): Promise<boolean> {
  if (to === 'PREPARED' || !submissionCanBecome(submission.status, to)) return false;
  submission.status = to;
  await moveReport(em, report, { status: to, sequence: submission.sequence }, now);
  return true;
}

/** Gives a locked report another status or sequence, tells of it, and lets the next day begin where this one is sent. */
export async function moveReport(
  em: EntityManager,
  report: DailyReport,
  to: { status: ReportStatus; sequence: number | null },
  now: Date,
): Promise<void> {
  const from = { status: report.status, sequence: report.sequence };
  if (from.status === to.status && from.sequence === to.sequence) return;
  report.status = to.status;
  report.sequence = to.sequence;
  await em.flush();
  if (report.environment !== 'production') return;
  await recordEvent(em, report, dailyReportUpdated(report, from), now);
  if (to.status !== 'OPEN' && to.status !== 'SENT') await startNextReport(em, report.rut, now);
}

/** Notes why a report waits for a person; null: it does not any more. The next day need not wait with it. */
export async function markReportStuck(
  em: EntityManager,
  key: ReportKey,
  reason: StuckReason | null,
  now: Date,
): Promise<void> {
  await em.transactional(async (open) => {
    const report = await lockReport(open, key);
    report.stuckReason = reason;
    report.undecidedSince = null;
    await open.flush();
    if (reason !== null && report.environment === 'production') await startNextReport(open, report.rut, now);
  });
}

/**
 * Stores that a submission is about to be sent, provided that it stands as it was read: of two attempts at once one
 * sends. False where the other was first.
 */
export async function markReportSending(
  em: EntityManager,
  { id, status, sentAt, ...key }: Pick<ReportSubmission, 'id' | 'status' | 'sentAt'> & ReportKey,
  now: Date,
): Promise<boolean> {
  return em.transactional(async (open) => {
    const report = await lockReport(open, key);
    const submission = await open.findOneOrFail(ReportSubmission, { id }, { refresh: true });
    const stands = submission.status === status && submission.sentAt?.getTime() === sentAt?.getTime();
    if (!stands || (status !== 'PREPARED' && status !== 'SENT')) return false;
    submission.sentAt = now;
    if (status === 'PREPARED') await moveSubmission(open, { report, submission, to: 'SENT' }, now);
    return true;
  });
}

/** A CFE whose fate the report of its day waits for. */
export interface UnsettledCfe {
  readonly type: CfeType;
  readonly sequence: number;
  readonly serie: string;
  readonly numero: number;
  readonly status: CfeStatus;
}

/** At most `limit` CFEs of a day of which it is not known yet what became of their numbers, by type and place. */
export function listUnsettledCfes(em: EntityManager, key: ReportKey, limit: number): Promise<UnsettledCfe[]> {
  const { rut, environment, date } = key;
  // Two questions, each with an index of its own: the day may have hundreds of thousands of CFEs.
  const ofDay = `rut = ? and environment = ? and left(document ->> 'signedAt', 10) = ?`;
  return em.execute<UnsettledCfe[]>(
    `select type, sequence, serie, numero, status from (
       select * from cfe where ${ofDay} and settled_at is null
       union all
       select * from cfe where ${ofDay} and status = 'REJECTED' and number_fate(rejection) = 'undecided'
         and not exists (select from annulment where cfe_uuid = cfe.id)
     ) waiting order by type, sequence limit ?`,
    [rut, environment, date, rut, environment, date, limit],
  );
}

// From when on enterprises are reported for, and the days that are due.

/** Days of an enterprise whose rows are stored at a time: a year's. */
const MOST_DAYS = 400;

/** Notes, with the open transaction, that an enterprise has become READY on that day; the first time counts. */
export async function startReporting(em: EntityManager, rut: string, date: string): Promise<void> {
  await em.execute(
    'insert into report_duty (rut, from_date, next_date) values (?, ?, ?) on conflict do nothing',
    [rut, date, date],
  );
}

/**
 * Sets the days for which we report: from `from` on until `until`, exclusive. Refuses (INVALID_INPUT) a first day that would
 * leave out days before an earlier `until` that are still to be stored.
 */
export async function setReportingDays(
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

/** Days of production, `YYYY-MM-DD`: from `from` on, until `until` (exclusive; null: with no end). */
export interface ReportingDays {
  readonly from: string;
  readonly until: string | null;
}

/** The days that we report for an enterprise, as `startDueReports` takes them; null before it was READY the first time. */
export async function findReportingDays(em: EntityManager, rut: string): Promise<ReportingDays | null> {
  const [days] = await em.execute<ReportingDays[]>(
    `select greatest(least(from_date, next_date), issuer_since)::text as "from", until_date::text as until
     from report_duty join enterprise using (rut) where rut = ?`,
    [rut],
  );
  return days ?? null;
}

// Days that were changed after their report was put together.

/** An annulment is visible when its transaction commits, which may be so long after its moment. */
const COMMITS_WITHIN = '10 minutes';
/** Nothing that changes a day is decided later: E06 has 60 days. */
const LOOKED_BACK = '70 days';

/**
 * Wakes reports whose day got an annulment, or a verdict that support did not wait for, since they were put together, and
 * incomplete ones that are not stuck: each looks again, and corrects itself where something changed. Returns how many.
 */
export async function wakeChangedReports(em: EntityManager, now: Date): Promise<number> {
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
