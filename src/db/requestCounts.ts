import type { EntityData, EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import type { GrantedRole } from '../domain/grantedRole.ts';
import { FAILURE_LIMIT, HOURLY_LIMITS, type Quota, type RequestLimit } from '../domain/requestLimits.ts';
import { Enterprise } from './entities/Enterprise.ts';
import { rowsOf, statement } from './statement.ts';

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

/** A request that is counted, and what it is let in by. */
export interface Admission {
  readonly quota: Quota;
  /** The enterprise that it is about; null where there is none of that RUT. */
  readonly enterprise: Enterprise | null;
  /** What an operator granted to the account at that enterprise; null when nothing. */
  readonly granted: GrantedRole | null;
}

const ADMIT = statement(
  'admit_request',
  `with counted as (
     insert into request_count as mine (account_id, environment, since, requests)
     values (?::uuid, ?::text, ?::timestamptz, 1)
     on conflict (account_id, environment) do update set
       requests = case when mine.since <= ?::timestamptz then 1 else mine.requests + 1 end,
       since = case when mine.since <= ?::timestamptz then excluded.since else mine.since end
     returning account_id, environment, requests, extract(epoch from since)::float8 as since
   )
   select counted.requests as count, counted.since, own.per_hour, to_jsonb(enterprise) as enterprise, role as granted
   from counted
   left join rate_limit own using (account_id, environment)
   left join enterprise on enterprise.rut = ?::text
   left join enterprise_grant on enterprise_grant.rut = enterprise.rut
     and enterprise_grant.account_id = counted.account_id`,
);

/**
 * Counts one request against the hourly limit of an account in an environment: its own limit, where an operator set
 * one, else everyone's. The window begins with its first request. One statement, so that counting is exact however
 * many processes do it; it looks up as well what the checks after it ask for. The caller refuses what goes beyond the
 * limit. `rut`: null for a request that is about no enterprise.
 */
export async function admitRequest(
  em: EntityManager,
  { accountId, environment }: { accountId: string; environment: Environment },
  rut: string | null,
  now: Date,
): Promise<Admission> {
  interface AdmissionRow extends Row {
    enterprise: EntityData<Enterprise> | null;
    granted: GrantedRole | null;
  }
  const limit = HOURLY_LIMITS[environment];
  const { at, over } = windowAt(now, limit);
  const [row] = await rowsOf<AdmissionRow>(em, ADMIT, [accountId, environment, at, over, over, rut]);
  if (!row) throw new Error('a counter answered no row');
  const { enterprise, granted } = row;
  return { quota: quotaOf(row, limit), enterprise: enterprise && em.map(Enterprise, enterprise), granted };
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
