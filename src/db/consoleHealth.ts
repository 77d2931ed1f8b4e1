/** What the first page of the console reads: how things stand, of all enterprises or of those that somebody sees. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { milliseconds } from './clock.ts';
import { type Seen, visibleAmong, visibleTo } from './visibleTo.ts';

/** At most this many rows of each list. */
const MOST = 20;
const DAY_MILLISECONDS = 86_400_000;
/** A paper is told of so long before its end, and so long after. */
const SOON_DAYS = 30;

interface Group {
  readonly environment: Environment;
  readonly count: number;
  readonly oldest: Date;
}

export interface Health {
  readonly pending: readonly (Group & { status: CfeStatus })[];
  readonly stuck: readonly (Group & { reason: StuckReason })[];
  /** Papers for production that end soon or ended lately, the first to end first. */
  readonly papers: readonly {
    rut: string;
    legalName: string;
    type: CfeType | null;
    ends: string;
    numbersLeft: number | null;
  }[];
  readonly webhooks: readonly { id: string; url: string; count: number; last: Date }[];
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

/** How things stand at `now`, which is on the day `today` in Montevideo. */
export async function consoleHealth(
  em: EntityManager,
  seen: Seen,
  now: Date,
  today: string,
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
    await papersThatEnd(em, seen, today),
    await failingWebhooks(em, seen, now),
    await reportsThatNeed(em, seen, now, today),
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
    papers,
    webhooks,
    reports,
  };
}

interface Row {
  environment: Environment;
  key: string;
  count: number;
  oldest: number;
}

async function papersThatEnd(em: EntityManager, seen: Seen, today: string): Promise<Health['papers']> {
  const { sql, values } = visibleTo(seen, 'paper.rut');
  return em.execute(
    `select paper.rut, e.legal_name as "legalName", type, ends::text as ends, left_over as "numbersLeft" from (
       select rut, type, expiration_date as ends, (number_end - last_number)::int as left_over
       from cae where environment = 'production' and last_number < number_end
         and expiration_date between ?::date - ?::int and ?::date + ?::int
       union all
       select rut, null, (not_after at time zone 'America/Montevideo')::date, null
       from certificate where environment = 'production' and replaced_at is null
         and (not_after at time zone 'America/Montevideo')::date between ?::date - ?::int and ?::date + ?::int
     ) as paper join enterprise e on e.rut = paper.rut
     where e.status <> 'SUSPENDED' and ${sql} order by ends, paper.rut limit ${MOST}`,
    [today, SOON_DAYS, today, SOON_DAYS, today, SOON_DAYS, today, SOON_DAYS, ...values],
  );
}

async function failingWebhooks(em: EntityManager, seen: Seen, now: Date): Promise<Health['webhooks']> {
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
     group by webhook.id, url order by count desc, webhook.id limit ${MOST}`,
    [since, since, ...own.values],
  );
  return rows.map(({ last, ...row }) => ({ ...row, last: new Date(last) }));
}

/** Older reports that the authority does not have are its affair and ours no more. */
const REPORT_DAYS = 70;

async function reportsThatNeed(
  em: EntityManager,
  seen: Seen,
  now: Date,
  today: string,
): Promise<Health['reports']> {
  const { sql, values } = visibleTo(seen, 'rut');
  const [due] = await em.execute<{ count: number; late: number; first: number | null }[]>(
    `select count(*)::int as count, count(*) filter (where due_at < ?::timestamptz)::int as late,
       ${milliseconds('min(due_at)')} as first
     from daily_report
     where environment = 'production' and status in ('OPEN', 'SENT', 'REFUSED') and date < ?::date
       and date > ?::date - ${REPORT_DAYS} and ${sql}`,
    [now.toISOString(), today, today, ...values],
  );
  const stuck = await em.execute<Health['reports']['stuck']>(
    `select stuck_reason as reason, environment, count(*)::int as count, min(date)::text as oldest from daily_report
     where stuck_reason is not null and ${sql} group by stuck_reason, environment order by environment, count desc`,
    values,
  );
  const { count = 0, late = 0, first = null } = due ?? {};
  return { due: first === null ? null : { count, late, first: new Date(first) }, stuck };
}
