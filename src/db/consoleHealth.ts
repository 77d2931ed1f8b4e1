/** What the first page of the console reads: how things stand, of all enterprises or of those that somebody sees. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { type DocumentWarning, listDocumentWarnings } from './consolePapers.ts';
import { countReportsDue } from './consoleReports.ts';
import { waitsForRetrySql } from './deliveries.ts';
import { type Seen, visibleAmong, visibleTo } from './roles.ts';
import { type Fragment, runSql, whereAll } from './sql.ts';

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
  readonly papers: Few<DocumentWarning>;
  /** Those with deliveries that were given up in the last 24 hours, or that wait for their next retry. */
  readonly webhooks: Few<FailingWebhook>;
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

/** A webhook that does not take what is sent to it. */
export interface FailingWebhook {
  readonly id: string;
  readonly url: string;
  /** Deliveries given up in the last 24 hours. */
  readonly failed: number;
  /** Deliveries that were refused and wait for a retry. */
  readonly waiting: number;
}

/** How things stand at `now`; papers and reports as of `businessNow`. */
export async function readConsoleHealth(
  em: EntityManager,
  seen: Seen,
  { now, businessNow }: { now: Date; businessNow: Date },
): Promise<Health> {
  const groups = (key: 'status' | 'stuck_reason', condition: Fragment): Promise<Row[]> =>
    runSql(em)<Row>`
      select environment, ${sql.ref(key)} as key, count(*)::int as count, min(created_at) as oldest
      from cfe where ${condition} and ${visibleAmong(seen, 'rut')}
      group by environment, ${sql.ref(key)} order by environment, count desc`;
  const [pending, stuck, papers, webhooks, reports] = [
    await groups('status', sql`settled_at is null and stuck_reason is null`),
    await groups('stuck_reason', sql`stuck_reason is not null`),
    await listDocumentWarnings(
      em,
      seen,
      { now: businessNow, within: SOON_DAYS, isIssuing: true },
      { endedLast: true, limit: MOST + 1 },
    ),
    await failingWebhooks(em, seen, now),
    { due: await countReportsDue(em, seen, businessNow), stuck: await stuckReports(em, seen) },
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
  oldest: string;
}

async function failingWebhooks(em: EntityManager, seen: Seen, now: Date): Promise<FailingWebhook[]> {
  const own = whereAll(seen !== null && sql`account_id = any (${seen}::uuid[])`);
  const since = new Date(now.getTime() - DAY_MILLISECONDS);
  return runSql(em)<FailingWebhook>`
    select webhook.id, url, count(settled_at)::int as failed, count(next_attempt_at)::int as waiting
    from (
      select webhook_id, settled_at, null::timestamptz as next_attempt_at from delivery
      where status = 'FAILED' and created_at > ${since}::timestamptz - interval '1 hour' and settled_at > ${since}
      union all
      select webhook_id, null, next_attempt_at from delivery where ${sql.raw(waitsForRetrySql('delivery'))}
    ) undelivered join webhook on webhook.id = webhook_id
    where removed_at is null and ${own}
    group by webhook.id, url order by count(*) desc, webhook.id limit ${MOST + 1}`;
}

const stuckReports = (em: EntityManager, seen: Seen): Promise<Health['reports']['stuck']> =>
  runSql(em)<Health['reports']['stuck'][number]>`
    select stuck_reason as reason, environment, count(*)::int as count, min(date)::text as oldest from daily_report
    where stuck_reason is not null and ${visibleTo(seen, 'rut')}
    group by stuck_reason, environment order by environment, count desc`;
