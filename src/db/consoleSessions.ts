import type { EntityManager } from '@mikro-orm/postgresql';
import { type OperatorRole, SESSION, SIGN_IN_LIMITS, type SignInMethod } from '../domain/people.ts';
import { ConsoleSession } from './entities/ConsoleSession.ts';
import { rowsOf, statement } from './statement.ts';

/** How long a session that ended stays, for its owner to see. */
const KEPT_MILLISECONDS = 30 * 86_400_000;

/** A session that is good, and whose it is. */
export interface LiveSession {
  readonly id: string;
  readonly personId: string;
  readonly email: string;
  readonly operatorRole: OperatorRole | null;
  readonly hasSecondFactor: boolean;
  readonly method: SignInMethod;
  readonly complete: boolean;
}

/** How exact the last use of a session is: it is written once a minute, not with every request. */
const SEEN_PRECISION_MILLISECONDS = 60_000;

const TOUCH = statement(
  'touch_console_session',
  `with live as (
     select session.id, person_id, method, complete, email, operator_role, sealed_totp is not null as has_totp,
       seen_at < ?::timestamptz as stale
     from console_session session join person on person.id = person_id
     where token_hash = ?::bytea and ended_at is null and disabled_at is null
       and session.created_at > case when complete then ?::timestamptz else ?::timestamptz end and seen_at > ?::timestamptz
   ), touched as (
     update console_session set seen_at = ?::timestamptz from live where console_session.id = live.id and live.stale
   )
   select id, person_id, method, complete, email, operator_role, has_totp from live`,
);

/**
 * The session with this token; null where there is none, it ended, it is too old, or its person is disabled. `byPerson`: somebody did
 * something, so that it is in use; a page that draws itself anew does not keep it alive.
 */
export async function useSession(
  em: EntityManager,
  tokenHash: Buffer,
  now: Date,
  { byPerson }: { byPerson: boolean },
): Promise<LiveSession | null> {
  interface Row {
    id: string;
    person_id: string;
    method: SignInMethod;
    complete: boolean;
    email: string;
    operator_role: OperatorRole | null;
    has_totp: boolean;
  }
  const before = (milliseconds: number): string => new Date(now.getTime() - milliseconds).toISOString();
  const [row] = await rowsOf<Row>(em, TOUCH, [
    byPerson ? before(SEEN_PRECISION_MILLISECONDS) : new Date(0).toISOString(),
    tokenHash,
    before(SESSION.longestMilliseconds),
    before(SESSION.secondFactorMilliseconds),
    before(SESSION.idleMilliseconds),
    now.toISOString(),
  ]);
  return row
    ? {
        id: row.id,
        personId: row.person_id,
        email: row.email,
        operatorRole: row.operator_role,
        hasSecondFactor: row.has_totp,
        method: row.method,
        complete: row.complete,
      }
    : null;
}

/** Stores a session with the open transaction, and forgets those of the person that ended long ago. */
export async function insertSession(
  em: EntityManager,
  values: Omit<ConsoleSession, symbol | 'endedAt' | 'seenAt'>,
): Promise<void> {
  const { personId, createdAt } = values;
  const old = new Date(createdAt.getTime() - KEPT_MILLISECONDS);
  await em.nativeDelete(ConsoleSession, { personId, createdAt: { $lt: old } });
  em.create(ConsoleSession, { ...values, seenAt: createdAt, endedAt: null });
}

/** Ends a session. False where it had ended. */
export async function endSession(em: EntityManager, id: string, now: Date): Promise<boolean> {
  return (await em.nativeUpdate(ConsoleSession, { id, endedAt: null }, { endedAt: now })) > 0;
}

/** Ends the sessions of a person: all, but that one, or only that one; answers how many. */
export function endSessionsOf(
  em: EntityManager,
  personId: string,
  which: { only?: string | undefined; but?: string | undefined },
  now: Date,
): Promise<number> {
  const { only, but } = which;
  return em.nativeUpdate(
    ConsoleSession,
    {
      personId,
      endedAt: null,
      ...(only === undefined ? {} : { id: only }),
      ...(but === undefined ? {} : { id: { $ne: but } }),
    },
    { endedAt: now },
  );
}

/** The sessions of a person that are good at `now`, newest first. */
export function liveSessionsOf(em: EntityManager, personId: string, now: Date): Promise<ConsoleSession[]> {
  return em.find(
    ConsoleSession,
    {
      personId,
      complete: true,
      endedAt: null,
      createdAt: { $gt: new Date(now.getTime() - SESSION.longestMilliseconds) },
      seenAt: { $gt: new Date(now.getTime() - SESSION.idleMilliseconds) },
    },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
}

/** How often it was tried from a place, this time included, and when that is forgotten. */
export interface AttemptCount {
  readonly attempts: number;
  readonly resetsAt: Date;
}

/** Counts an attempt to sign in, before it is known what comes of it, so that many at once are counted too. */
export async function countSignIn(em: EntityManager, place: string, now: Date): Promise<AttemptCount> {
  const { windowMilliseconds } = SIGN_IN_LIMITS;
  const over = new Date(now.getTime() - windowMilliseconds).toISOString();
  await em.execute(
    `delete from sign_in_count where place in (
       select place from sign_in_count where since <= ?::timestamptz limit 100 for update skip locked)`,
    [over],
  );
  const [row] = await em.execute<{ attempts: number; since: number }[]>(
    `insert into sign_in_count as mine (place, since, attempts) values (?, ?::timestamptz, 1)
     on conflict (place) do update set
       attempts = case when mine.since <= ?::timestamptz then 1 else mine.attempts + 1 end,
       since = case when mine.since <= ?::timestamptz then excluded.since else mine.since end
     returning attempts, extract(epoch from since)::float8 * 1000 as since`,
    [place, now.toISOString(), over, over],
  );
  if (!row) throw new Error('a counter answered no row');
  return { attempts: row.attempts, resetsAt: new Date(Math.round(row.since) + windowMilliseconds) };
}

/** Takes back one attempt of each place: it was no failure. */
export async function forgiveSignIn(em: EntityManager, places: readonly string[]): Promise<void> {
  await em.execute('update sign_in_count set attempts = attempts - 1 where place in (?) and attempts > 0', [
    [...places],
  ]);
}
