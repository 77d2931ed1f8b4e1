import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';

/** What a counter says after counting. */
export interface Count {
  /** How often it was counted since `since`. */
  readonly count: number;
  readonly since: Date;
}

interface Row {
  count: number;
  since: number;
  per_hour: number | null;
}

/**
 * Counts one request of an account; the window begins with its first request and lasts `seconds`. One statement, so
 * that counting is exact however many processes do it. `perHour`: the account's own limit, null without one.
 */
export async function countRequest(
  em: EntityManager,
  of: { accountId: string; environment: Environment },
  window: { now: Date; seconds: number },
): Promise<Count & { perHour: number | null }> {
  const { begun, now } = momentsOf(window);
  const [row] = await em.execute<Row[]>(
    `insert into request_count as mine (account_id, environment, since, requests)
     values (?, ?, ?::timestamptz, 1)
     on conflict (account_id, environment) do update set
       requests = case when mine.since <= ?::timestamptz then 1 else mine.requests + 1 end,
       since = case when mine.since <= ?::timestamptz then excluded.since else mine.since end
     returning requests as count, extract(epoch from since)::float8 as since,
       (select per_hour from rate_limit own
        where own.account_id = mine.account_id and own.environment = mine.environment) as per_hour`,
    [of.accountId, of.environment, now, begun, begun],
  );
  return { ...countOf(row), perHour: row?.per_hour ?? null };
}

/** Counts one failed authentication of a network address, in the same manner. */
export async function countFailedAuthentication(
  em: EntityManager,
  address: string,
  window: { now: Date; seconds: number },
): Promise<Count> {
  const { begun, now } = momentsOf(window);
  const [row] = await em.execute<Row[]>(
    `insert into failed_authentication as mine (address, since, failures)
     values (?, ?::timestamptz, 1)
     on conflict (address) do update set
       failures = case when mine.since <= ?::timestamptz then 1 else mine.failures + 1 end,
       since = case when mine.since <= ?::timestamptz then excluded.since else mine.since end
     returning failures as count, extract(epoch from since)::float8 as since`,
    [address, now, begun, begun],
  );
  return countOf(row);
}

/** Forgets the addresses whose window began before `before`. */
export async function purgeFailedAuthentications(em: EntityManager, before: Date): Promise<void> {
  await em.execute('delete from failed_authentication where since < ?::timestamptz', [before.toISOString()]);
}

/** A window that began at `begun` or before is over at `now`. */
function momentsOf({ now, seconds }: { now: Date; seconds: number }): { now: string; begun: string } {
  return { now: now.toISOString(), begun: new Date(now.getTime() - seconds * 1_000).toISOString() };
}

function countOf(row: Row | undefined): Count {
  if (!row) throw new Error('a counter answered no row');
  return { count: row.count, since: new Date(row.since * 1_000) };
}
