import type { EntityManager } from '@mikro-orm/postgresql';
import { matchTotpStep, type OfferedSecret } from '../../crypto/totp.ts';
import type { Person } from '../../db/entities/people.ts';
import { endSession, endSessionsOf, type LiveSession } from '../../db/people/consoleSessions.ts';
import { forgiveSignIn } from '../../db/people/counts.ts';
import { findPerson, lockPerson, useTotpStep } from '../../db/people/people.ts';
import { OFFER_MILLISECONDS } from '../../domain/people/people.ts';
import { Refusal } from '../../errors.ts';
import { countAttempt, type SignInOrigin } from '../steps/attempts.ts';
import { auditAct } from '../steps/auditAct.ts';
import { type SignInDeps, startSession } from '../steps/people.ts';

type Session = Pick<LiveSession, 'id' | 'personId' | 'email'>;

/** Proof that the signed-in person is present: the password and, with a second factor, a code. */
interface Proof {
  readonly password: string;
  readonly code: string;
}

/**
 * Offers a new secret to a signed-in person; nothing changes before its first code is confirmed. Throws UNAUTHORIZED for a
 * wrong proof, RATE_LIMITED after too many wrong proofs, and FORBIDDEN for OpenID users and for operators without a second
 * factor: operators set up their first one through an invitation link, never with a password alone.
 */
export function offerSecondFactor(
  deps: SignInDeps,
  session: Session,
  proof: Proof,
  place: SignInOrigin,
): Promise<OfferedSecret> {
  return runWithProof(deps, session, proof, place, checkMaySetUp, async (_em, _person, now) =>
    deps.totpSecrets.offer(session.id, new Date(now.getTime() + OFFER_MILLISECONDS)),
  );
}

/**
 * Replaces the second factor with the offered secret once its first code is right. Ends all sessions of the
 * person and returns the token of a new one. Throws INVALID_INPUT when the offer is of another session or
 * expired, UNAUTHORIZED for a wrong code, RATE_LIMITED after too many, and FORBIDDEN as `offerSecondFactor`
 * does.
 */
export async function confirmSecondFactor(
  deps: SignInDeps,
  session: Session,
  input: { offered: string; code: string },
  place: SignInOrigin,
): Promise<string> {
  const now = deps.clock();
  const secret = deps.totpSecrets.offered(input.offered, session.id, now);
  if (!secret) throw offerExpired();
  const places = await countAttempt(deps, session.email, place, now);
  const step = matchTotpStep(secret, input.code, now);
  if (step === null)
    throw refusal('UNAUTHORIZED', 'code.wrong', 'This is not the code that the app shows now.');
  const token = await deps.orm.em.fork().transactional(async (em) => {
    const person = await lockPerson(em, session.personId);
    checkMaySetUp(person);
    person.sealedTotp = deps.totpSecrets.seal(secret, person.id);
    person.totpStep = step;
    auditAct(deps, em, { action: 'user.set_second_factor', subject: person.email }, now);
    return renewSession(em, session, place, now);
  });
  await forgiveSignIn(deps.orm.em.fork(), places, 1);
  return token;
}

/**
 * Turns off the second factor and renews the session as `confirmSecondFactor` does. Throws FORBIDDEN for operators and
 * OpenID users, INVALID_INPUT without a second factor, UNAUTHORIZED for a wrong proof, RATE_LIMITED after too many.
 */
export function removeSecondFactor(
  deps: SignInDeps,
  session: Session,
  proof: Proof,
  place: SignInOrigin,
): Promise<string> {
  return runWithProof(deps, session, proof, place, checkMayRemove, async (em, person, now) => {
    person.sealedTotp = null;
    person.totpStep = null;
    auditAct(deps, em, { action: 'user.remove_second_factor', subject: person.email }, now);
    return renewSession(em, session, place, now);
  });
}

/**
 * Runs `act` on the locked person once the proof is right. Each attempt counts as a sign-in attempt until
 * then.
 */
async function runWithProof<T>(
  deps: SignInDeps,
  session: Session,
  proof: Proof,
  place: SignInOrigin,
  check: (person: Person) => void,
  act: (em: EntityManager, person: Person, now: Date) => Promise<T>,
): Promise<T> {
  const now = deps.clock();
  const known = await findPerson(deps.orm.em.fork(), session.email);
  if (!known) throw wrongProof();
  // Before counting: no proof would help.
  check(known);
  const places = await countAttempt(deps, session.email, place, now);
  const hash = known.passwordHash;
  const from = { owner: session.personId, known: true };
  if (!(await deps.passwords.matches(proof.password, hash, from))) throw wrongProof();
  const result = await deps.orm.em.fork().transactional(async (em) => {
    const person = await lockPerson(em, session.personId);
    // The password was changed, or the person disabled, during the comparison.
    if (person.passwordHash !== hash || person.disabledAt !== null) throw wrongProof();
    check(person);
    if (person.sealedTotp !== null) {
      const step = matchTotpStep(deps.totpSecrets.open(person.sealedTotp, person.id), proof.code, now);
      if (step === null || !(await useTotpStep(em, person.id, step))) throw wrongProof();
    }
    return act(em, person, now);
  });
  await forgiveSignIn(deps.orm.em.fork(), places, 1);
  return result;
}

/**
 * Ends all sessions of a person and starts a new session in place of the current. Throws when the current one has ended.
 */
async function renewSession(
  em: EntityManager,
  session: Session,
  place: SignInOrigin,
  now: Date,
): Promise<string> {
  const { id, personId } = session;
  if (!(await endSession(em, id, now))) throw offerExpired();
  await endSessionsOf(em, personId, {}, now);
  return startSession(em, { personId, place, method: 'password', complete: true }, now);
}

function checkMaySetUp({ oidcSubject, operatorRole, sealedTotp }: Person): void {
  if (oidcSubject !== null)
    throw refusal('FORBIDDEN', 'second_factor.of_provider', 'The OpenID provider manages the second factor.');
  if (operatorRole !== null && sealedTotp === null)
    throw refusal(
      'FORBIDDEN',
      'second_factor.by_invitation',
      'An operator sets up the first second factor through an invitation.',
    );
}

function checkMayRemove(person: Person): void {
  checkMaySetUp(person);
  if (person.operatorRole !== null)
    throw refusal('FORBIDDEN', 'second_factor.needed', 'Operators need a second factor.');
  if (person.sealedTotp === null)
    throw refusal('INVALID_INPUT', 'second_factor.none', 'There is no second factor to turn off.');
}

const wrongProof = (): Refusal =>
  refusal(
    'UNAUTHORIZED',
    'second_factor.wrong',
    'The password or the code is wrong, or the code was used before.',
  );

const offerExpired = (): Refusal =>
  refusal(
    'INVALID_INPUT',
    'second_factor.gone',
    'This secret was not offered in this session, or the offer has expired.',
  );

const refusal = (code: Refusal['code'], fault: string, message: string): Refusal =>
  new Refusal(code, message, { faults: [{ path: '', code: fault, message }] });
