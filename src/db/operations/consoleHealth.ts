/** Queries of the console's first page: the state of all enterprises, or of the visible ones. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { type DocumentWarning, listDocumentWarnings } from '../enterprises/documentWarnings.ts';
import { type ViewerAccounts, visibleAmong, visibleTo } from '../people/roles.ts';
import { countReportsDue } from '../reports/consoleReports.ts';
import { type Fragment, runSql, whereAll } from '../sql.ts';
import { waitsForRetrySql } from '../webhooks/deliveries.ts';

/** Most rows of each list. */
const MOST = 20;
const DAY_MILLISECONDS = 86_400_000;
/** Certificates and CAEs are shown this long before they expire. */
const SOON_DAYS = 30;

interface Group {
  readonly environment: Environment;
  readonly count: number;
  readonly oldest: Date;
}

/** The start of a list, and whether it continues. */
interface ShortList<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
}
const takeFew = <T>(found: readonly T[]): ShortList<T> => ({
  rows: found.slice(0, MOST),
  hasMore: found.length > MOST,
});

export interface Health {
  readonly pending: readonly (Group & { status: CfeStatus })[];
  readonly stuck: readonly (Group & { reason: StuckReason })[];
  /** Warnings about certificates and CAEs for production: low, about to expire, or recently expired, those last. */
  readonly warnings: ShortList<DocumentWarning>;
  /** Webhooks with deliveries that were given up in the last 24 hours or wait for a retry. */
  readonly webhooks: ShortList<FailingWebhook>;
  readonly reports: {
    /**
     * Production's reports of past days that the authority does not have: how many, how many late, and when the first
     * is due.
     */
    readonly due: { readonly count: number; readonly late: number; readonly first: Date } | null;
    /** Reports that need support. */
    readonly stuck: readonly {
      reason: StuckReason;
      environment: Environment;
      count: number;
      oldest: string;
    }[];
  };
}

/** A webhook with failing deliveries. */
export interface FailingWebhook {
  readonly id: string;
  readonly url: string;
  /** Deliveries given up in the last 24 hours. */
  readonly failed: number;
  /** Deliveries that failed and wait for a retry. */
  readonly waiting: number;
}

/** Reads the state at `now`; certificates, CAEs and reports as of `businessNow`. */
export async function readConsoleHealth(
  em: EntityManager,
  accounts: ViewerAccounts,
  { now, businessNow }: { now: Date; businessNow: Date },
): Promise<Health> {
  const groups = (key: 'status' | 'stuck_reason', condition: Fragment): Promise<Row[]> =>
    runSql(em)<Row>`
      select environment, ${sql.ref(key)} as key, count(*)::int as count, min(created_at) as oldest
      from cfe where ${condition} and ${visibleAmong(accounts, 'rut')}
      group by environment, ${sql.ref(key)} order by environment, count desc`;
  const [pending, stuck, warnings, webhooks, reports] = [
    await groups('status', sql`settled_at is null and stuck_reason is null`),
    await groups('stuck_reason', sql`stuck_reason is not null`),
    await listDocumentWarnings(
      em,
      accounts,
      { now: businessNow, within: SOON_DAYS, isIssuing: true },
      { endedLast: true, after: null, limit: MOST + 1 },
    ),
    await failingWebhooks(em, accounts, now),
    { due: await countReportsDue(em, accounts, businessNow), stuck: await stuckReports(em, accounts) },
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
    warnings: takeFew(warnings),
    webhooks: takeFew(webhooks),
    reports,
  };
}

interface Row {
  environment: Environment;
  key: string;
  count: number;
  oldest: string;
}

async function failingWebhooks(
  em: EntityManager,
  accounts: ViewerAccounts,
  now: Date,
): Promise<FailingWebhook[]> {
  const own = whereAll(accounts !== null && sql`account_id = any (${accounts}::uuid[])`);
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

const stuckReports = (em: EntityManager, accounts: ViewerAccounts): Promise<Health['reports']['stuck']> =>
  runSql(em)<Health['reports']['stuck'][number]>`
    select stuck_reason as reason, environment, count(*)::int as count, min(date)::text as oldest from daily_report
    where stuck_reason is not null and ${visibleTo(accounts, 'rut')}
    group by stuck_reason, environment order by environment, count desc`;
