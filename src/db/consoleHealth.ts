/** What the first page of the console reads: how things stand, of all enterprises or of those that somebody sees. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { milliseconds } from './clock.ts';
import { type NeedyPaper, needyPapers } from './consolePapers.ts';
import { reportsDue } from './consoleReports.ts';
import { type Seen, visibleAmong, visibleTo } from './visibleTo.ts';

/** At most this many rows of each list. */
const MOST = 20;
const DAY_MILLISECONDS = 86_400_000;
/** A paper is told of so long before its end. */
const SOON_DAYS = 30;

interface Group {
  readonly environment: Environment;
  readonly count: number;
  readonly oldest: Date;
}

/** The first of a list, and whether there are more. */
interface Few<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
}
const few = <T>(found: readonly T[]): Few<T> => ({
  rows: found.slice(0, MOST),
  hasMore: found.length > MOST,
});

export interface Health {
  readonly pending: readonly (Group & { status: CfeStatus })[];
  readonly stuck: readonly (Group & { reason: StuckReason })[];
  /** Papers for production that run low, end soon or ended lately, these at the end. */
  readonly papers: Few<NeedyPaper>;
  readonly webhooks: Few<{ id: string; url: string; count: number; last: Date }>;
  readonly reports: {
    /** Production's reports of days that are over which the authority does not have, how many of them late, and when the first is due. */
    readonly due: { readonly count: number; readonly late: number; readonly first: Date } | null;
    /** Those that wait for a person. */
    readonly stuck: readonly {
      reason: StuckReason;
      environment: Environment;
      count: number;
      oldest: string;
    }[];
  };
}

/** How things stand at `now`; papers and reports as of `businessNow`. */
export async function consoleHealth(
  em: EntityManager,
  seen: Seen,
  { now, businessNow }: { now: Date; businessNow: Date },
): Promise<Health> {
  const { sql, values } = visibleAmong(seen, 'rut');
  const groups = (key: string, condition: string): Promise<Row[]> =>
    em.execute(
      `select environment, ${key} as key, count(*)::int as count, ${milliseconds('min(created_at)')} as oldest
       from cfe where ${condition} and ${sql} group by environment, ${key} order by environment, count desc`,
      values,
    );
  const [pending, stuck, papers, webhooks, reports] = [
    await groups('status', 'settled_at is null and stuck_reason is null'),
    await groups('stuck_reason', 'stuck_reason is not null'),
    await needyPapers(
      em,
      seen,
      { now: businessNow, within: SOON_DAYS, isIssuing: true },
      { endedLast: true, limit: MOST + 1 },
    ),
    await failingWebhooks(em, seen, now),
    { due: await reportsDue(em, seen, businessNow), stuck: await stuckReports(em, seen) },
  ];
  return {
    pending: pending.map(({ key, oldest, ...row }) => ({
      ...row,
      status: key as CfeStatus,
      oldest: new Date(oldest),
    })),
    stuck: stuck.map(({ key, oldest, ...row }) => ({
      ...row,
      reason: key as StuckReason,
      oldest: new Date(oldest),
    })),
    papers: few(papers),
    webhooks: few(webhooks),
    reports,
  };
}

interface Row {
  environment: Environment;
  key: string;
  count: number;
  oldest: number;
}

async function failingWebhooks(
  em: EntityManager,
  seen: Seen,
  now: Date,
): Promise<Health['webhooks']['rows'][number][]> {
  const own =
    seen === null
      ? { sql: 'true', values: [] }
      : { sql: 'account_id = any (?::uuid[])', values: [`{${seen.join(',')}}`] };
  const since = new Date(now.getTime() - DAY_MILLISECONDS).toISOString();
  const rows = await em.execute<{ id: string; url: string; count: number; last: number }[]>(
    `select webhook.id, url, count(*)::int as count, ${milliseconds('max(delivery.settled_at)')} as last
     from delivery join webhook on webhook.id = webhook_id
     where delivery.status = 'FAILED' and delivery.created_at > ?::timestamptz - interval '1 hour' and settled_at > ?::timestamptz
       and removed_at is null and ${own.sql}
     group by webhook.id, url order by count desc, webhook.id limit ${MOST + 1}`,
    [since, since, ...own.values],
  );
  return rows.map(({ last, ...row }) => ({ ...row, last: new Date(last) }));
}

async function stuckReports(em: EntityManager, seen: Seen): Promise<Health['reports']['stuck']> {
  const { sql, values } = visibleTo(seen, 'rut');
  return em.execute(
    `select stuck_reason as reason, environment, count(*)::int as count, min(date)::text as oldest from daily_report
     where stuck_reason is not null and ${sql} group by stuck_reason, environment order by environment, count desc`,
    values,
  );
}
