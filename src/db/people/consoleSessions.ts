import type { EntityManager } from '@mikro-orm/postgresql';
import { type OperatorRole, SESSION, type SignInMethod } from '../../domain/people/people.ts';
import { ConsoleSession } from '../entities/people.ts';
import { declareStatement, runStatement } from '../sql.ts';

/** A valid session and its person. */
export interface LiveSession {
  readonly id: string;
  readonly personId: string;
  readonly email: string;
  readonly operatorRole: OperatorRole | null;
  readonly hasSecondFactor: boolean;
  readonly method: SignInMethod;
  readonly complete: boolean;
}

/** Precision of a session's last use: it is written once a minute, not with every request. */
const SEEN_PRECISION_MILLISECONDS = 60_000;

const TOUCH = declareStatement(
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
 * Returns the session with this token; null if it is unknown, ended or too old, or its person is disabled.
 * `byPerson`: a person acted, so the session stays alive; pages that refresh automatically do not extend it.
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
  const [row] = await runStatement<Row>(em, TOUCH, [
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

/** Stores a session with the open transaction. */
export function insertSession(
  em: EntityManager,
  values: Omit<ConsoleSession, symbol | 'endedAt' | 'seenAt'>,
): void {
  em.create(ConsoleSession, { ...values, seenAt: values.createdAt, endedAt: null });
}

/** Ends a session; returns false if it had already ended. */
export async function endSession(em: EntityManager, id: string, now: Date): Promise<boolean> {
  return (await em.nativeUpdate(ConsoleSession, { id, endedAt: null }, { endedAt: now })) > 0;
}

/** Ends the sessions of a person: all, all `but` one, or `only` one; returns how many. */
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

/** Returns the sessions of a person that are valid at `now`, newest first. */
export function listLiveSessions(em: EntityManager, personId: string, now: Date): Promise<ConsoleSession[]> {
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
