import { randomUUID } from 'node:crypto';
import { matchTotpStep } from '../crypto/totp.ts';
import { endSession, endSessionsOf, type LiveSession } from '../db/consoleSessions.ts';
import { forgiveSignIn } from '../db/counts.ts';
import type { Person } from '../db/entities/people.ts';
import {
  ensurePerson,
  findPerson,
  lockPerson,
  lockPersonBySubject,
  requirePerson,
  useTotpStep,
} from '../db/people.ts';
import type { OperatorRole } from '../domain/people.ts';
import { isUuid } from '../domain/uuid.ts';
import { Refusal } from '../errors.ts';
import { checkedFrom, countAttempt, countSignedIn, type SignInPlace } from './steps/attempts.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import {
  beginSession,
  checkConsoleMayManage,
  checkNewPassword,
  type Place,
  passwordOwner,
  type SignInDeps,
} from './steps/people.ts';

/** A session that has begun; without its second factor it opens nothing but the form that asks for it. */
export interface Begun {
  readonly token: string;
  readonly complete: boolean;
}

/**
 * Begins a session for who knows address and password. Refuses everyone else in the same words and after the same work,
 * whether the address is known or not (UNAUTHORIZED), and too many attempts of a place (RATE_LIMITED).
 */
export async function signIn(
  deps: SignInDeps,
  input: { email: string; password: string },
  place: SignInPlace,
): Promise<Begun> {
  const now = deps.clock();
  const places = await countAttempt(deps, input.email, place, now);
  const em = deps.orm.em.fork();
  const known = await findPerson(em, input.email);
  const hash = known?.disabledAt === null ? known.passwordHash : null;
  const isRight = await deps.passwords.matches(input.password, hash ?? null, checkedFrom(input.email, place));
  if (!known || !isRight) throw new Refusal('UNAUTHORIZED', 'Address or password is wrong.');
  const begun = await deps.orm.em.fork().transactional(async (transaction) => {
    const person = await lockPerson(transaction, known.id);
    // Changed or disabled while the password was looked at.
    if (person.passwordHash !== hash) throw new Refusal('UNAUTHORIZED', 'Address or password is wrong.');
    const complete = person.sealedTotp === null;
    if (complete) await countSignedIn(transaction, person.id, now);
    const token = beginSession(
      transaction,
      { personId: person.id, place, method: 'password', complete },
      now,
    );
    if (complete) auditSignIn(deps, transaction, person.email, now);
    return { token, complete };
  });
  // With a second factor it stays counted: a password alone begins few sessions.
  if (begun.complete) await forgiveSignIn(em, places, 1);
  return begun;
}

/**
 * Completes a session with a code of the person's app: under a new token, the old one opens nothing. Refuses a wrong code, and one
 * that was taken before (UNAUTHORIZED), and too many of them (RATE_LIMITED).
 */
export async function confirmSignIn(
  deps: SignInDeps,
  session: Pick<LiveSession, 'id' | 'personId' | 'email'>,
  code: string,
  place: SignInPlace,
): Promise<Begun> {
  const now = deps.clock();
  const places = await countAttempt(deps, session.email, place, now);
  const begun = await deps.orm.em.fork().transactional(async (em) => {
    const person = await lockPerson(em, session.personId);
    if (person.sealedTotp === null || person.disabledAt !== null) throw wrongCode();
    const secret = deps.totpSecrets.open(person.sealedTotp, person.id);
    const step = matchTotpStep(secret, code, now);
    if (step === null || !(await useTotpStep(em, person.id, step))) throw wrongCode();
    if (deps.totpSecrets.isOld(person.sealedTotp)) {
      person.sealedTotp = deps.totpSecrets.seal(secret, person.id);
    }
    if (!(await endSession(em, session.id, now))) throw wrongCode();
    await countSignedIn(em, person.id, now);
    const token = beginSession(em, { personId: person.id, place, method: 'password', complete: true }, now);
    auditSignIn(deps, em, person.email, now);
    return { token, complete: true };
  });
  // Not that of the password too, which may have been counted in another network.
  await forgiveSignIn(deps.orm.em.fork(), places, 1);
  return begun;
}

const wrongCode = (): Refusal =>
  new Refusal('UNAUTHORIZED', 'This code is wrong, or was used before. Wait for the next one.');

function auditSignIn(deps: SignInDeps, em: Parameters<typeof audited>[1], email: string, now: Date): void {
  audited({ ...deps, actor: `console:${email}` }, em, { action: 'user.sign_in', subject: email }, now);
}

/** What the operator's OpenID provider says of who signs in; it was checked that it says so. */
export interface OidcIdentity {
  /** Issuer and subject. */
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  /** The role that a claim gives them; null without one. */
  readonly operatorRole: OperatorRole | null;
}

/**
 * Begins a session of an operator who comes by the OpenID provider. They are what its claim says, each time anew; one who has a
 * user here under that address becomes that user, if the provider vouches for the address, and has no password from then
 * on. Refuses who has no role, and who is disabled here (FORBIDDEN),
 * and who signed in too often (RATE_LIMITED).
 */
export async function signInByOidc(deps: CommandDeps, identity: OidcIdentity, place: Place): Promise<string> {
  const now = deps.clock();
  const token = await deps.orm.em.fork().transactional(async (em) => {
    const person = await personOf(em, identity, now);
    if (person === null) return null;
    // Who was dismissed here stays no operator, whatever the claim says.
    person.operatorRole = person.disabledAt === null ? identity.operatorRole : null;
    person.oidcSubject = identity.subject;
    person.passwordHash = null;
    person.passwordByAccount = false;
    person.sealedTotp = null;
    person.totpStep = null;
    // What the claim took away is stored, though they are refused.
    if (identity.operatorRole === null || person.disabledAt !== null) return null;
    audited(
      { ...deps, actor: `console:${person.email}` },
      em,
      { action: 'user.sign_in', subject: person.email },
      now,
    );
    await countSignedIn(em, person.id, now);
    return beginSession(em, { personId: person.id, place, method: 'oidc', complete: true }, now);
  });
  if (token === null) throw new Refusal('FORBIDDEN', 'Your account at the OpenID provider has no role here.');
  return token;
}

/** Who it is here, locked; somebody new where they have a role; null for a stranger. */
async function personOf(
  em: Parameters<typeof lockPersonBySubject>[0],
  { subject, email, emailVerified, operatorRole }: OidcIdentity,
  now: Date,
): Promise<Person | null> {
  const known = await lockPersonBySubject(em, subject);
  if (known) return known;
  if (operatorRole === null || !emailVerified) return null;
  const person = await ensurePerson(em, { id: randomUUID(), email, createdAt: now });
  return person.oidcSubject === null ? person : null;
}

/** Ends a session; once it has ended nothing happens. */
export async function signOut(
  deps: CommandDeps,
  { id, email }: Pick<LiveSession, 'id' | 'email'>,
): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    if (!(await endSession(em, id, now))) return;
    audited(deps, em, { action: 'user.sign_out', subject: email }, now);
  });
}

/**
 * Ends sessions of a user: all, all `but` one, or `only` one; answers how many. Of one that has ended, or is another's, none.
 * Refuses an unknown user (NOT_FOUND), and over the console those of an operator who is another (FORBIDDEN).
 */
export function endSessions(
  deps: CommandDeps,
  input: { email: string; only?: string; but?: string; reason?: string | undefined },
): Promise<number> {
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const person = await requirePerson(em, input.email);
    if (deps.actor !== `console:${person.email}`) checkConsoleMayManage(deps, person);
    if (input.only !== undefined && !isUuid(input.only)) return 0;
    const ended = await endSessionsOf(em, person.id, input, now);
    audited(deps, em, { action: 'user.end_sessions', subject: person.email, reason: input.reason }, now);
    return ended;
  });
}

/**
 * Changes the password of who is signed in and knows the old one; their other sessions end. Refuses a wrong old one (UNAUTHORIZED),
 * too many of them (RATE_LIMITED), and a new one that will not do (INVALID_INPUT).
 */
export async function changePassword(
  deps: SignInDeps,
  session: Pick<LiveSession, 'id' | 'personId' | 'email'>,
  input: { old: string; password: string },
  place: SignInPlace,
): Promise<void> {
  // Else whoever came by somebody's session could guess here as often as they like.
  const places = await countAttempt(deps, session.email, place, deps.clock());
  const known = await findPerson(deps.orm.em.fork(), session.email);
  const hash = known?.passwordHash ?? null;
  const from = { owner: session.personId, known: true };
  if (!(await deps.passwords.matches(input.old, hash, from))) throw wrong();
  await forgiveSignIn(deps.orm.em.fork(), places, 1);
  const owner = await passwordOwner(deps.orm.em.fork(), { id: session.personId, email: session.email });
  checkNewPassword(deps, input.password, owner);
  const passwordHash = await deps.passwords.hash(input.password);
  await deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const person = await lockPerson(em, session.personId);
    // Another session was quicker.
    if (person.passwordHash !== hash) throw wrong();
    person.passwordHash = passwordHash;
    await endSessionsOf(em, person.id, { but: session.id }, now);
    audited(deps, em, { action: 'user.change_password', subject: person.email }, now);
  });
}

function wrong(): Refusal {
  const message = 'The old password is wrong.';
  return new Refusal('UNAUTHORIZED', message, {
    faults: [{ path: '/old', code: 'password.wrong_old', message }],
  });
}
