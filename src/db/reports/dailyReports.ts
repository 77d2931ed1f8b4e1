/** Daily reports and their submissions (docs/daily-report.md). */
import { type EntityManager, type FilterQuery, LockMode } from '@mikro-orm/postgresql';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import {
  type ReportStatus,
  type SubmissionStatus,
  submissionCanBecome,
} from '../../domain/reports/reportStatus.ts';
import { reportDueAt } from '../../domain/reports/workingDays.ts';
import { addDays } from '../../domain/values/montevideo.ts';
import { dailyReportUpdated } from '../../domain/webhooks/webhookEvents.ts';
import { Refusal } from '../../errors.ts';
import { reportWorkflowId, SIGNALS, type SignalName, type WorkflowMessage } from '../../temporal.ts';
import { DailyReport, ReportingObligation, ReportSubmission } from '../entities/reports.ts';
import { enqueue } from '../outbox.ts';
import { givenConditions } from '../sql.ts';
import { recordEvent } from '../webhooks/events.ts';

/** The key of one report. */
export interface ReportKey {
  readonly rut: string;
  readonly environment: Environment;
  /** `YYYY-MM-DD`, in Montevideo. */
  readonly date: string;
}

/** Picks the key from a larger object. */
export const reportKey = ({ rut, environment, date }: ReportKey): ReportKey => ({ rut, environment, date });

/** Returns the message that starts a report's workflow, with `signal` also sends it. */
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

/** Reports that are not final: the workflow or support has work to do. */
export const UNENDED_REPORTS = {
  $or: [
    { isComplete: false },
    { stuckReason: { $ne: null } },
    { status: { $in: ['OPEN', 'SENT', 'RECEIVED', 'REFUSED'] } },
    { status: 'DIFFERS', acceptedAsIs: false },
  ],
} satisfies FilterQuery<DailyReport>;

/** Returns the report, or null. */
export function findReport(em: EntityManager, key: ReportKey): Promise<DailyReport | null> {
  return em.findOne(DailyReport, reportKey(key));
}

/** Returns the report, locked until the open transaction ends; throws if it does not exist. */
export function lockReport(em: EntityManager, key: ReportKey): Promise<DailyReport> {
  return em.findOneOrFail(DailyReport, reportKey(key), {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    refresh: true,
  });
}

/** Returns the submissions of a report, oldest first. */
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

/** Returns the last submission of a report; null before the first. */
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

/** Selects reports; all given conditions must hold. */
export interface ReportFilter {
  rut?: string | undefined;
  environment?: Environment | undefined;
  status?: ReportStatus | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const toWhere = ({ rut, environment, status, from, to }: ReportFilter): FilterQuery<DailyReport> =>
  givenConditions({
    rut,
    environment,
    status,
    date: from === undefined && to === undefined ? undefined : givenConditions({ $gte: from, $lte: to }),
  });

/** Returns the matching reports, latest day first. */
export function listReports(
  em: EntityManager,
  filter: ReportFilter,
  { skip, limit }: { skip: number; limit: number },
): Promise<DailyReport[]> {
  return em.find(DailyReport, toWhere(filter), {
    orderBy: { date: 'desc', rut: 'asc', environment: 'asc' },
    offset: skip,
    limit,
  });
}

/** Counts the matching reports. */
export function countReports(em: EntityManager, filter: ReportFilter): Promise<number> {
  return em.count(DailyReport, toWhere(filter));
}

/** Stores missing reports of an enterprise, OPEN and not started. */
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
 * Starts the earliest due report of an enterprise, with the open transaction, unless one is in progress; reports that
 * need support do not block the next day. Returns whether it started one.
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
 * Moves a submission and its report, which the open transaction has locked, and records the event for production.
 * Returns false, and changes nothing, if the move is not allowed.
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

/**
 * Changes status or sequence of a locked report, records the event, and starts the next day's report once this one is
 * sent.
 */
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

/** Records why a report needs support; null: it no longer does. The next day's report starts anyway. */
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
 * Stores that a submission is about to be sent, if it has not changed since it was read: of two concurrent attempts
 * one sends. Returns false for the other.
 */
export async function markReportSending(
  em: EntityManager,
  { id, status, sentAt, ...key }: Pick<ReportSubmission, 'id' | 'status' | 'sentAt'> & ReportKey,
  now: Date,
): Promise<boolean> {
  return em.transactional(async (open) => {
    const report = await lockReport(open, key);
    const submission = await open.findOneOrFail(ReportSubmission, { id }, { refresh: true });
    const isUnchanged = submission.status === status && submission.sentAt?.getTime() === sentAt?.getTime();
    if (!isUnchanged || (status !== 'PREPARED' && status !== 'SENT')) return false;
    submission.sentAt = now;
    if (status === 'PREPARED') await moveSubmission(open, { report, submission, to: 'SENT' }, now);
    return true;
  });
}

/** A CFE whose result the report of its day needs. */
export interface UnsettledCfe {
  readonly type: CfeType;
  readonly sequence: number;
  readonly serie: string;
  readonly numero: number;
  readonly status: CfeStatus;
}

/** Returns at most `limit` CFEs of a day whose number is undecided, by type and sequence number. */
export function listUnsettledCfes(em: EntityManager, key: ReportKey, limit: number): Promise<UnsettledCfe[]> {
  const { rut, environment, date } = key;
  // Two queries, each with its own index: a day may have hundreds of thousands of CFEs.
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

// The reporting obligation of enterprises, and due days.

/** Days of an enterprise that are stored at a time: about a year. */
const MOST_DAYS = 400;

/**
 * Starts the reporting obligation of an enterprise that became READY on that day, with the open transaction; later
 * calls change nothing.
 */
export async function startReporting(em: EntityManager, rut: string, date: string): Promise<void> {
  await em.execute(
    'insert into reporting_obligation (rut, from_date, next_date) values (?, ?, ?) on conflict do nothing',
    [rut, date, date],
  );
}

/**
 * Sets the days that we report: `from` the first, or `until` the first one not reported. Throws INVALID_INPUT for a
 * first day that would skip days before an earlier `until` that are not stored yet.
 */
export async function setReportingDays(
  em: EntityManager,
  rut: string,
  days: { from: string } | { until: string },
): Promise<ReportingObligation> {
  const found = await em.findOne(
    ReportingObligation,
    { rut },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if ('from' in days) {
    const values = { fromDate: days.from, untilDate: null, nextDate: days.from };
    if (!found) return em.create(ReportingObligation, { rut, ...values });
    const { untilDate, fromDate, nextDate } = found;
    if (untilDate === null) {
      await deleteUnsentReports(em, rut, { from: fromDate, until: days.from });
    } else if (nextDate < untilDate) {
      if (days.from > untilDate)
        throw new Refusal(
          'INVALID_INPUT',
          `We report until ${untilDate}, and not all of those days are stored yet: start again once they are.`,
        );
      if (nextDate < days.from) values.nextDate = nextDate;
    }
    return em.assign(found, values);
  }
  const { until } = days;
  await deleteUnsentReports(em, rut, { from: until, until: null });
  if (found) return em.assign(found, { untilDate: until });
  return em.create(ReportingObligation, { rut, fromDate: until, untilDate: until, nextDate: until });
}

/** A day of production that this service has acted on. */
export interface DayOfOurs {
  readonly date: string;
  readonly kind: 'report' | 'numbers';
}

/**
 * Returns the last day before `before` for which this service sent a report, or on which it signed a receipt or annulled a
 * number; null if there is none. Leaves out days before an earlier end of reporting.
 */
export async function findReportedBefore(
  em: EntityManager,
  rut: string,
  before: string,
): Promise<DayOfOurs | null> {
  const [found] = await em.execute<DayOfOurs[]>(
    `with asked as (select ?::text as rut, ?::date as before),
       ended as (select max(until_date) as day from reporting_obligation join asked using (rut))
     select date::text as date, kind from (
       (select date, 'report' as kind from daily_report join asked using (rut)
         where environment = 'production' and status <> 'OPEN')
       union all
       (select max(left(document ->> 'signedAt', 10))::date, 'numbers' from cfe join asked using (rut)
         where environment = 'production' and left(document ->> 'signedAt', 10) < asked.before::text)
       union all
       (select report_date, 'numbers' from annulment join asked using (rut) where environment = 'production')
     ) as day, asked, ended
     where date < asked.before and (ended.day is null or date >= ended.day)
     order by date desc, kind limit 1`,
    [rut, before],
  );
  return found ?? null;
}

/** Deletes unsent reports: another system sends those days. A workflow waiting for one finds no row, and ends. */
async function deleteUnsentReports(
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
 * Returns at most `limit` RUTs, in order after `after`, of enterprises with a due day that has no row, or whose
 * report was not started. `today`: in Montevideo; days before it are due.
 */
export async function rutsWithDueReports(
  em: EntityManager,
  { after, limit, today }: { after: string; limit: number; today: string },
): Promise<string[]> {
  const rows = await em.execute<{ rut: string }[]>(
    `select rut from (
       (select rut from reporting_obligation where rut > ? and next_date < ?::date
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
 * Stores an enterprise's due reports and starts the first one that may go, with the open transaction. Returns whether
 * it started one.
 */
export async function startDueReports(
  em: EntityManager,
  rut: string,
  { today, now }: { today: string; now: Date },
): Promise<boolean> {
  const [obligation] = await em.execute<{ next: string; until: string }[]>(
    `select greatest(next_date, issuer_since)::text as next, least(until_date, ?::date)::text as until
     from reporting_obligation join enterprise using (rut) where rut = ? for update of reporting_obligation`,
    [today, rut],
  );
  if (obligation && obligation.next < obligation.until) {
    const days: string[] = [];
    for (
      let date = obligation.next;
      date < obligation.until && days.length < MOST_DAYS;
      date = addDays(date, 1)
    )
      days.push(date);
    await storeOpenReports(
      em,
      days.map((date) => ({ rut, environment: 'production', date })),
      now,
    );
    const next = addDays(days.at(-1) ?? obligation.next, 1);
    await em.execute('update reporting_obligation set next_date = ?::date where rut = ?', [next, rut]);
  }
  return startNextReport(em, rut, now);
}

/** Days of production, `YYYY-MM-DD`: from `from`, until `until` (exclusive; null: no end). */
export interface ReportingDays {
  readonly from: string;
  readonly until: string | null;
}

/** Returns the days that we report for an enterprise, as in `startDueReports`; null before it was first READY. */
export async function findReportingDays(em: EntityManager, rut: string): Promise<ReportingDays | null> {
  const [days] = await em.execute<ReportingDays[]>(
    `select greatest(least(from_date, next_date), issuer_since)::text as "from", until_date::text as until
     from reporting_obligation join enterprise using (rut) where rut = ?`,
    [rut],
  );
  return days ?? null;
}

// Days that changed after their report was built.

/** An annulment becomes visible at its commit, up to this long after its time. */
const COMMITS_WITHIN = '10 minutes';
/** No later decision changes a day: E06 has 60 days. */
const LOOKED_BACK = '70 days';

/**
 * Signals reports to check again that are incomplete, or whose day has a new annulment, or a verdict that support did
 * not wait for; skips stuck ones. A report corrects itself if something changed. Returns how many.
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
         -- Locks by day, in the same order as transactions that start the next day's report.
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
