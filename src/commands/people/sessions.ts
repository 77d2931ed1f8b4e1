import { randomUUID } from 'node:crypto';
import { matchTotpStep } from '../../crypto/totp.ts';
import type { Person } from '../../db/entities/people.ts';
import { endSession, endSessionsOf, type LiveSession } from '../../db/people/consoleSessions.ts';
import { forgiveSignIn } from '../../db/people/counts.ts';
import {
  ensurePerson,
  findPerson,
  lockPerson,
  lockPersonBySubject,
  requirePerson,
  useTotpStep,
} from '../../db/people/people.ts';
import type { OperatorRole } from '../../domain/people/people.ts';
import { isUuid } from '../../domain/values/uuid.ts';
import { Refusal } from '../../errors.ts';
import {
  countAttempt,
  countSuccessfulSignIn,
  passwordQueueOf,
  type SignInOrigin,
} from '../steps/attempts.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import {
  type ClientOrigin,
  checkConsoleMayManage,
  checkNewPassword,
  findPasswordOwner,
  type SignInDeps,
  startSession,
} from '../steps/people.ts';

/** A started session; until the second factor is confirmed it opens only the form for the code. */
export interface StartedSession {
  readonly token: string;
  readonly complete: boolean;
}

/**
 * Starts a session for the right address and password. Throws UNAUTHORIZED with the same message and in the
 * same time whether the address is known or not; RATE_LIMITED after too many attempts.
 */
export async function signIn(
  deps: SignInDeps,
  input: { email: string; password: string },
  place: SignInOrigin,
): Promise<StartedSession> {
  const now = deps.clock();
  const places = await countAttempt(deps, input.email, place, now);
  const em = deps.orm.em.fork();
  const known = await findPerson(em, input.email);
  const hash = known?.disabledAt === null ? known.passwordHash : null;
  const isRight = await deps.passwords.matches(
    input.password,
    hash ?? null,
    passwordQueueOf(input.email, place),
  );
  if (!known || !isRight) throw new Refusal('UNAUTHORIZED', 'Address or password is wrong.');
  const started = await deps.orm.em.fork().transactional(async (transaction) => {
    const person = await lockPerson(transaction, known.id);
    // The password was changed, or the person disabled, during the comparison.
    if (person.passwordHash !== hash) throw new Refusal('UNAUTHORIZED', 'Address or password is wrong.');
    const complete = person.sealedTotp === null;
    if (complete) await countSuccessfulSignIn(transaction, person.id, now);
    const token = startSession(
      transaction,
      { personId: person.id, place, method: 'password', complete },
      now,
    );
    if (complete) auditSignIn(deps, transaction, person.email, now);
    return { token, complete };
  });
  // With a second factor the attempt stays counted, so a password alone starts few sessions.
  if (started.complete) await forgiveSignIn(em, places, 1);
  return started;
}

/**
 * Completes a session with a code of the person's app, under a new token; the old one ends. Throws
 * UNAUTHORIZED for a wrong or used code, RATE_LIMITED after too many.
 */
export async function confirmSignIn(
  deps: SignInDeps,
  session: Pick<LiveSession, 'id' | 'personId' | 'email'>,
  code: string,
  place: SignInOrigin,
): Promise<StartedSession> {
  const now = deps.clock();
  const places = await countAttempt(deps, session.email, place, now);
  const started = await deps.orm.em.fork().transactional(async (em) => {
    const person = await lockPerson(em, session.personId);
    if (person.sealedTotp === null || person.disabledAt !== null) throw wrongCode();
    const secret = deps.totpSecrets.open(person.sealedTotp, person.id);
    const step = matchTotpStep(secret, code, now);
    if (step === null || !(await useTotpStep(em, person.id, step))) throw wrongCode();
    if (deps.totpSecrets.isOld(person.sealedTotp)) {
      person.sealedTotp = deps.totpSecrets.seal(secret, person.id);
    }
    if (!(await endSession(em, session.id, now))) throw wrongCode();
    await countSuccessfulSignIn(em, person.id, now);
    const token = startSession(em, { personId: person.id, place, method: 'password', complete: true }, now);
    auditSignIn(deps, em, person.email, now);
    return { token, complete: true };
  });
  // Forgives only the code: the password attempt may have been counted in another network.
  await forgiveSignIn(deps.orm.em.fork(), places, 1);
  return started;
}

const wrongCode = (): Refusal =>
  new Refusal('UNAUTHORIZED', 'This code is wrong, or was used before. Wait for the next one.');

function auditSignIn(deps: SignInDeps, em: Parameters<typeof auditAct>[1], email: string, now: Date): void {
  auditAct({ ...deps, actor: `console:${email}` }, em, { action: 'user.sign_in', subject: email }, now);
}

/** The verified claims of a person who signs in with the operator's OpenID provider. */
export interface OidcIdentity {
  /** Issuer and subject. */
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  /** The role in the claims; null without one. */
  readonly operatorRole: OperatorRole | null;
}

/**
 * Starts a session for an operator of the OpenID provider. The claims set their role at each sign-in; an
 * existing user with the same verified address becomes theirs and loses its password. Throws FORBIDDEN
 * without a role or when disabled here, RATE_LIMITED after too many sign-ins.
 */
export async function signInByOidc(
  deps: CommandDeps,
  identity: OidcIdentity,
  place: ClientOrigin,
): Promise<string> {
  const now = deps.clock();
  const token = await deps.orm.em.fork().transactional(async (em) => {
    const person = await lockOrCreatePerson(em, identity, now);
    if (person === null) return null;
    // A person disabled here is not an operator, whatever the claims say.
    person.operatorRole = person.disabledAt === null ? identity.operatorRole : null;
    person.oidcSubject = identity.subject;
    person.passwordHash = null;
    person.passwordByAccount = false;
    person.sealedTotp = null;
    person.totpStep = null;
    // Refuses after the transaction, so that the lost role is stored.
    if (identity.operatorRole === null || person.disabledAt !== null) return null;
    auditAct(
      { ...deps, actor: `console:${person.email}` },
      em,
      { action: 'user.sign_in', subject: person.email },
      now,
    );
    await countSuccessfulSignIn(em, person.id, now);
    return startSession(em, { personId: person.id, place, method: 'oidc', complete: true }, now);
  });
  if (token === null) throw new Refusal('FORBIDDEN', 'Your account at the OpenID provider has no role here.');
  return token;
}

/** Returns the person, locked; creates one with a role; null for a stranger. */
async function lockOrCreatePerson(
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

/** Ends a session; an ended one stays unchanged. */
export async function signOut(
  deps: CommandDeps,
  { id, email }: Pick<LiveSession, 'id' | 'email'>,
): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    if (!(await endSession(em, id, now))) return;
    auditAct(deps, em, { action: 'user.sign_out', subject: email }, now);
  });
}

/**
 * Ends sessions of a user: all, all `but` one, or `only` one; returns how many were open. Throws NOT_FOUND
 * for an unknown user, and FORBIDDEN in the console for another operator.
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
    auditAct(deps, em, { action: 'user.end_sessions', subject: person.email, reason: input.reason }, now);
    return ended;
  });
}

/**
 * Changes the password of the signed-in person and ends their other sessions. Throws UNAUTHORIZED for a wrong
 * old password, RATE_LIMITED after too many, INVALID_INPUT for an invalid new one.
 */
export async function changePassword(
  deps: SignInDeps,
  session: Pick<LiveSession, 'id' | 'personId' | 'email'>,
  input: { old: string; password: string },
  place: SignInOrigin,
): Promise<void> {
  // Prevents unlimited guessing from a stolen session.
  const places = await countAttempt(deps, session.email, place, deps.clock());
  const known = await findPerson(deps.orm.em.fork(), session.email);
  const hash = known?.passwordHash ?? null;
  const from = { owner: session.personId, known: true };
  if (!(await deps.passwords.matches(input.old, hash, from))) throw wrongOldPassword();
  await forgiveSignIn(deps.orm.em.fork(), places, 1);
  const owner = await findPasswordOwner(deps.orm.em.fork(), { id: session.personId, email: session.email });
  checkNewPassword(deps, input.password, owner);
  const passwordHash = await deps.passwords.hash(input.password);
  await deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const person = await lockPerson(em, session.personId);
    // Another session changed it first.
    if (person.passwordHash !== hash) throw wrongOldPassword();
    person.passwordHash = passwordHash;
    await endSessionsOf(em, person.id, { but: session.id }, now);
    auditAct(deps, em, { action: 'user.change_password', subject: person.email }, now);
  });
}

function wrongOldPassword(): Refusal {
  const message = 'The old password is wrong.';
  return new Refusal('UNAUTHORIZED', message, {
    faults: [{ path: '/old', code: 'password.wrong_old', message }],
  });
}
