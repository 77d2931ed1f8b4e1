/** Counters of requests and failures, and their limits. */
import type { EntityData, EntityManager } from '@mikro-orm/postgresql';
import { SIGN_IN_LIMITS } from '../../domain/people/people.ts';
import {
  FAILURE_LIMIT,
  FORM_LIMIT,
  RATE_LIMITS,
  type RateLimitRule,
  type RateLimitUsage,
  VERIFICATION_LIMIT,
} from '../../domain/people/rateLimits.ts';
import type { GrantedRole } from '../../domain/people/roles.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Enterprise } from '../entities/enterprises.ts';
import { RateLimit } from '../entities/people.ts';
import { declareStatement, runStatement } from '../sql.ts';

/** How long counters of requests, failed authentications, sign-in attempts and forms are kept: their window. */
export const COUNT_MILLISECONDS =
  Math.max(...Object.values(RATE_LIMITS).map(({ seconds }) => seconds)) * 1_000;
export const FAILURE_MILLISECONDS = FAILURE_LIMIT.seconds * 1_000;
export const SIGN_IN_MILLISECONDS = SIGN_IN_LIMITS.seconds * 1_000;
export const FORM_MILLISECONDS = FORM_LIMIT.seconds * 1_000;

interface Row {
  count: number;
  /** The start of the window, in seconds since the epoch. */
  since: number;
  /** The account's own limit. */
  per_hour: number | null;
}

/** A counted request, with the rows that decide whether it is admitted. */
export interface RequestAdmission {
  readonly usage: RateLimitUsage;
  /** The enterprise of the request; null if it does not exist. */
  readonly enterprise: Enterprise | null;
  /** The role of the account at that enterprise, as granted by an operator, or null. */
  readonly granted: GrantedRole | null;
}

const ADMIT = declareStatement(
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
 * Counts one request against the rate limit of an account, and reads the rows for later checks, in one statement,
 * so that counting is exact. `rut`: null if the request has none. The caller rejects.
 */
export async function admitRequest(
  em: EntityManager,
  { accountId, environment }: { accountId: string; environment: Environment },
  rut: string | null,
  now: Date,
): Promise<RequestAdmission> {
  interface AdmissionRow extends Row {
    enterprise: EntityData<Enterprise> | null;
    granted: GrantedRole | null;
  }
  const limit = RATE_LIMITS[environment];
  const { at, over } = windowBounds(now, limit);
  const [row] = await runStatement<AdmissionRow>(em, ADMIT, [accountId, environment, at, over, over, rut]);
  if (!row) throw new Error('a counter returned no row');
  const { enterprise, granted } = row;
  return { usage: toUsage(row, limit), enterprise: enterprise && em.map(Enterprise, enterprise), granted };
}

/** Counts one failed authentication of a network. */
export const countFailedAuthentication = (
  em: EntityManager,
  network: string,
  now: Date,
): Promise<RateLimitUsage> =>
  countInWindow(em, { table: 'failed_authentication', key: 'address', count: 'failures' }, network, {
    limit: FAILURE_LIMIT,
    now,
  });

/** The counter of a network's misses on the verification page, beside its failed authentications. */
const verificationKey = (network: string): string => `verificar ${network}`;

/** Counts a look-up of a network on the verification page. */
export const countVerification = (em: EntityManager, network: string, now: Date): Promise<RateLimitUsage> =>
  countInWindow(
    em,
    { table: 'failed_authentication', key: 'address', count: 'failures' },
    verificationKey(network),
    { limit: VERIFICATION_LIMIT, now },
  );

/** Subtracts a look-up that found its receipt. */
export async function forgiveVerification(em: EntityManager, network: string): Promise<void> {
  await em.execute(
    'update failed_authentication set failures = greatest(failures - 1, 0) where address = ?',
    [verificationKey(network)],
  );
}

/** Counts a form that a person submits in the console. */
export const countForm = (em: EntityManager, personId: string, now: Date): Promise<RateLimitUsage> =>
  countInWindow(em, { table: 'form_count', key: 'person_id', count: 'forms' }, personId, {
    limit: FORM_LIMIT,
    now,
  });

/** Counts a sign-in attempt from `place`, which may make `most`. */
export const countSignIn = (
  em: EntityManager,
  { place, most }: { place: string; most: number },
  now: Date,
): Promise<RateLimitUsage> =>
  countInWindow(em, { table: 'sign_in_count', key: 'place', count: 'attempts' }, place, {
    limit: { most, seconds: SIGN_IN_LIMITS.seconds },
    now,
  });

/** Subtracts sign-in attempts of each place that succeeded. */
export async function forgiveSignIn(
  em: EntityManager,
  places: readonly string[],
  attempts: number,
): Promise<void> {
  await em.execute('update sign_in_count set attempts = greatest(attempts - ?, 0) where place in (?)', [
    attempts,
    [...places],
  ]);
}

/** Counts one attempt before its result is known, so that concurrent attempts count too. */
async function countInWindow(
  em: EntityManager,
  { table, key, count }: { table: string; key: string; count: string },
  of: string,
  { limit, now }: { limit: RateLimitRule; now: Date },
): Promise<RateLimitUsage> {
  const { at, over } = windowBounds(now, limit);
  const [row] = await em.execute<Row[]>(
    `insert into ${table} as mine (${key}, since, ${count})
     values (?, ?::timestamptz, 1)
     on conflict (${key}) do update set
       ${count} = case when mine.since <= ?::timestamptz then 1 else mine.${count} + 1 end,
       since = case when mine.since <= ?::timestamptz then excluded.since else mine.since end
     returning ${count} as count, extract(epoch from since)::float8 as since, null::integer as per_hour`,
    [of, at, over, over],
  );
  return toUsage(row, limit);
}

/** Returns `now` in ISO format, and the latest start of a window that has ended. */
function windowBounds(now: Date, { seconds }: RateLimitRule): { at: string; over: string } {
  return { at: now.toISOString(), over: new Date(now.getTime() - seconds * 1_000).toISOString() };
}

function toUsage(row: Row | undefined, { most, seconds }: RateLimitRule): RateLimitUsage {
  if (!row) throw new Error('a counter returned no row');
  return {
    limit: { most: row.per_hour ?? most, seconds },
    used: row.count,
    resetsAt: new Date(Math.round((row.since + seconds) * 1_000)),
  };
}

/** Stores the rate limit of an account in an environment; `keep`: does not replace a stored one. */
export async function putRateLimit(
  em: EntityManager,
  limit: Omit<RateLimit, symbol>,
  { keep = false }: { keep?: boolean } = {},
): Promise<void> {
  await em.upsert(RateLimit, limit, {
    onConflictFields: ['accountId', 'environment'],
    onConflictAction: keep ? 'ignore' : 'merge',
  });
}

/** Returns the rate limit of an account in production: its own, or the default. */
export async function findRateLimit(em: EntityManager, accountId: string): Promise<number> {
  const own = await em.findOne(RateLimit, { accountId, environment: 'production' });
  return own?.perHour ?? RATE_LIMITS.production.most;
}

/** How long a daily counter is kept: its day in Montevideo, and one day of margin. */
export const DAILY_COUNT_MILLISECONDS = 2 * 86_400_000;

/** A counter with a daily limit. */
export interface DayLimit {
  readonly counter: string;
  readonly most: number;
  /** The limit does not apply while this counter of the same call is at most `first`. */
  readonly except?: { readonly counter: string; readonly first: number };
}

/** One earlier count of a day in Montevideo, `YYYY-MM-DD`. */
export interface DayCount {
  readonly counter: string;
  readonly day: string;
}

/**
 * Adds one to each of today's counters (Montevideo) and subtracts earlier counts. Returns the first exceeded limit,
 * and the caller rolls back. All callers lock counters in the same order, until the transaction ends: no deadlock.
 */
export async function countToday<L extends DayLimit>(
  em: EntityManager,
  limited: readonly L[],
  now: Date,
  uncounted: readonly DayCount[] = [],
): Promise<L | null> {
  const day = montevideoDate(now);
  const changes = [
    ...limited.map(({ counter }) => ({ counter, day, by: 1 })),
    ...uncounted.map((counted) => ({ ...counted, by: -1 })),
  ];
  const rows = await em.execute<{ counter: string; by: number; count: number }[]>(
    `with changes as materialized (
       select * from jsonb_to_recordset(?::jsonb) as changes (counter text, day date, by integer)),
     changed as (
       insert into daily_count as mine (counter, day, count)
       select counter, day, greatest(by, 0) from changes order by counter, day
       on conflict (counter, day) do update
         set count = greatest(mine.count + case when excluded.count > 0 then 1 else -1 end, 0)
       returning counter, day, count)
     select counter, by, count from changed join changes using (counter, day)`,
    [JSON.stringify(changes)],
  );
  const counts = new Map(rows.filter(({ by }) => by > 0).map(({ counter, count }) => [counter, count]));
  const isBeyond = (counter: string, most: number): boolean => (counts.get(counter) ?? 0) > most;
  const exceeded = limited.find(
    ({ counter, most, except }) =>
      isBeyond(counter, most) && (!except || isBeyond(except.counter, except.first)),
  );
  return exceeded ?? null;
}
