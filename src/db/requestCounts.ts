import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { FAILURE_LIMIT, HOURLY_LIMITS, type Quota, type RequestLimit } from '../domain/requestLimits.ts';

/** How long a count of requests, and one of failed authentications, is of use: its window. */
export const COUNT_MILLISECONDS =
  Math.max(...Object.values(HOURLY_LIMITS).map(({ seconds }) => seconds)) * 1_000;
export const FAILURE_MILLISECONDS = FAILURE_LIMIT.seconds * 1_000;

interface Row {
  count: number;
  /** When the window began, in seconds of the epoch. */
  since: number;
  /** The account's own limit. */
  per_hour: number | null;
}

/**
 * Counts one request against the hourly limit of an account in an environment: its own limit, where an operator set
 * one, else everyone's. The window begins with its first request. One statement, so that counting is exact however
 * many processes do it. The caller refuses what goes beyond the limit.
 */
export async function countRequest(
  em: EntityManager,
  { accountId, environment }: { accountId: string; environment: Environment },
  now: Date,
): Promise<Quota> {
  const limit = HOURLY_LIMITS[environment];
  const { at, over } = windowAt(now, limit);
  const [row] = await em.execute<Row[]>(
    `insert into request_count as mine (account_id, environment, since, requests)
     values (?, ?, ?::timestamptz, 1)
     on conflict (account_id, environment) do update set
       requests = case when mine.since <= ?::timestamptz then 1 else mine.requests + 1 end,
       since = case when mine.since <= ?::timestamptz then excluded.since else mine.since end
     returning requests as count, extract(epoch from since)::float8 as since,
       (select per_hour from rate_limit own
        where own.account_id = mine.account_id and own.environment = mine.environment) as per_hour`,
    [accountId, environment, at, over, over],
  );
  return quotaOf(row, limit);
}

/** Counts one failed authentication of a network, in the same manner. */
export async function countFailedAuthentication(
  em: EntityManager,
  network: string,
  now: Date,
): Promise<Quota> {
  const { at, over } = windowAt(now, FAILURE_LIMIT);
  const [row] = await em.execute<Row[]>(
    `insert into failed_authentication as mine (address, since, failures)
     values (?, ?::timestamptz, 1)
     on conflict (address) do update set
       failures = case when mine.since <= ?::timestamptz then 1 else mine.failures + 1 end,
       since = case when mine.since <= ?::timestamptz then excluded.since else mine.since end
     returning failures as count, extract(epoch from since)::float8 as since, null::integer as per_hour`,
    [network, at, over, over],
  );
  return quotaOf(row, FAILURE_LIMIT);
}

/** `now` in words, and the moment at or before which a window must have begun to be over. */
function windowAt(now: Date, { seconds }: RequestLimit): { at: string; over: string } {
  return { at: now.toISOString(), over: new Date(now.getTime() - seconds * 1_000).toISOString() };
}

function quotaOf(row: Row | undefined, { most, seconds }: RequestLimit): Quota {
  if (!row) throw new Error('a counter answered no row');
  return {
    limit: { most: row.per_hour ?? most, seconds },
    used: row.count,
    resetsAt: new Date(Math.round((row.since + seconds) * 1_000)),
  };
}
