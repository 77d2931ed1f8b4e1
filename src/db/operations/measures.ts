/** Queries of the metrics; each reads a small index or a small table. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import { reportDueAt } from '../../domain/reports/workingDays.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { type EndpointState, listEndpointStates } from '../authority/authorityEndpoints.ts';

/** Longest time of one query. */
const STATEMENT_MILLISECONDS = 3_000;
/** Most CAEs, and most certificates, to show: those that expire first. */
const MOST_SHOWN = 1_000;
/** Older expiries need no attention any more. */
const FORGOTTEN_AFTER_DAYS = 30;

/** How many items wait, and how many seconds the oldest has waited. */
export interface WaitingWork {
  readonly count: number;
  readonly oldestSeconds: number;
}

/** Counts of work in progress. */
export interface WorkMeasures {
  /** CFEs without a verdict; no row for zero. */
  readonly openCfes: readonly (WaitingWork & { environment: Environment; status: CfeStatus })[];
  /** CFEs that wait for support. */
  readonly stuckCfes: readonly { environment: Environment; stuckReason: string; count: number }[];
  /** Production's daily reports of the last 70 days that are not CONSISTENT, by status. */
  readonly reports: readonly { status: string; count: number }[];
  /** Seconds until the first missing report is due; null if the authority has all. */
  readonly reportsDueSeconds: number | null;
  readonly stuckReports: readonly { environment: Environment; stuckReason: string; count: number }[];
  /** Seconds since the last outcome of the running bulk run that has had none for longest; 0 if none is running. */
  readonly runIdleSeconds: number;
  readonly endpoints: readonly EndpointState[];
  readonly outbox: WaitingWork;
  readonly deliveries: WaitingWork;
  readonly mails: WaitingWork;
  /** Running exports of receipts; the oldest is the one without progress for longest. */
  readonly exports: WaitingWork;
}

/** Production's CAEs and certificates of enterprises that are not suspended; negative days are past. */
export interface ExpiryMeasures {
  readonly caes: readonly { rut: string; type: CfeType; numbersLeft: number; daysLeft: number }[];
  readonly certificates: readonly { rut: string; daysLeft: number }[];
}

/** Measures the work in progress at `now`. */
export function measureWork(em: EntityManager, now: Date): Promise<WorkMeasures> {
  const at = now.toISOString();
  const waiting = `count(*)::int as count,
    coalesce(extract(epoch from ?::timestamptz - min(created_at)), 0)::float8 as "oldestSeconds"`;
  return withStatementTimeout(em, async (one) => ({
    openCfes: await one.execute(
      `select environment, status, ${waiting} from cfe where settled_at is null group by environment, status`,
      [at],
    ),
    stuckCfes: await one.execute(
      `select environment, stuck_reason as "stuckReason", count(*)::int as count
       from cfe where stuck_reason is not null group by environment, stuck_reason`,
    ),
    ...(await measureReports(one, at)),
    runIdleSeconds: await measureRunIdleSeconds(one, at),
    endpoints: await listEndpointStates(one),
    outbox: await readWaiting(one, `select ${waiting} from outbox where dispatched_at is null`, [at]),
    deliveries: await readWaiting(one, `select ${waiting} from delivery where status = 'PENDING'`, [at]),
    mails: await readWaiting(one, `select ${waiting} from mail where status = 'PENDING'`, [at]),
    exports: await readWaiting(
      one,
      `select ${waiting.replace('created_at', 'moved_at')} from receipt_export where state = 'RUNNING'`,
      [at],
    ),
  }));
}

async function measureRunIdleSeconds(em: EntityManager, at: string): Promise<number> {
  const [row] = await em.execute<{ seconds: number }[]>(
    `select coalesce(extract(epoch from ?::timestamptz - min(moved_at)), 0)::float8 as seconds
     from run where state = 'RUNNING'`,
    [at],
  );
  return row?.seconds ?? 0;
}

async function measureReports(
  em: EntityManager,
  at: string,
): Promise<Pick<WorkMeasures, 'reports' | 'reportsDueSeconds' | 'stuckReports'>> {
  const now = new Date(at);
  const [due] = await em.execute<{ seconds: number | null; next: string | null }[]>(
    `select (select extract(epoch from min(due_at) - ?::timestamptz)::float8 from daily_report
        where environment = 'production' and status in ('OPEN', 'SENT', 'REFUSED')) as seconds,
       (select min(greatest(next_date, issuer_since))::text from reporting_obligation join enterprise using (rut)
        where greatest(next_date, issuer_since) < least(until_date, ?::date)) as next`,
    [at, montevideoDate(now)],
  );
  // A past day that the schedule has not stored yet: it may be paused, or fail.
  const unstored = due?.next ? (reportDueAt(due.next).getTime() - now.getTime()) / 1_000 : null;
  const dues = [due?.seconds ?? null, unstored].filter((seconds) => seconds !== null);
  return {
    reports: await em.execute(
      `select status, count(*)::int as count from daily_report
       where environment = 'production' and status <> 'CONSISTENT'
         and date > (?::timestamptz - interval '70 days')::date group by status`,
      [at],
    ),
    reportsDueSeconds: dues.length === 0 ? null : Math.min(...dues),
    stuckReports: await em.execute(
      `select environment, stuck_reason as "stuckReason", count(*)::int as count
       from daily_report where stuck_reason is not null group by environment, stuck_reason`,
    ),
  };
}

/** Returns the CAEs and certificates that expire first, at `now`, on the day `today` in Montevideo (`YYYY-MM-DD`). */
export function measureExpiries(em: EntityManager, now: Date, today: string): Promise<ExpiryMeasures> {
  return withStatementTimeout(em, async (one) => ({
    caes: await one.execute(
      `select rut, type,
         coalesce(sum(numbers_left) filter (where expiration_date >= ?::date), 0)::int as "numbersLeft",
         max(expiration_date) - ?::date as "daysLeft"
       from cae join enterprise using (rut)
       where environment = 'production' and enterprise.status <> 'SUSPENDED'
         and expiration_date >= ?::date - ?::int
       group by rut, type order by "numbersLeft", rut, type limit ?`,
      [today, today, today, FORGOTTEN_AFTER_DAYS, MOST_SHOWN],
    ),
    certificates: await one.execute(
      `select rut, (extract(epoch from not_after - ?::timestamptz) / 86400)::float8 as "daysLeft"
       from certificate join enterprise using (rut)
       where environment = 'production' and replaced_at is null and enterprise.status <> 'SUSPENDED'
         and not_after >= ?::timestamptz - make_interval(days => ?::int)
       order by not_after, rut limit ?`,
      [now.toISOString(), now.toISOString(), FORGOTTEN_AFTER_DAYS, MOST_SHOWN],
    ),
  }));
}

/** Runs queries in a transaction in which PostgreSQL cancels slow statements. */
function withStatementTimeout<T>(em: EntityManager, ask: (em: EntityManager) => Promise<T>): Promise<T> {
  return em.transactional(async (one) => {
    await one.execute(`set local statement_timeout to ${STATEMENT_MILLISECONDS}`);
    return ask(one);
  });
}

async function readWaiting(em: EntityManager, sql: string, values: unknown[]): Promise<WaitingWork> {
  const [row] = await em.execute<WaitingWork[]>(sql, values);
  return row ?? { count: 0, oldestSeconds: 0 };
}
