import type { EntityManager } from '@mikro-orm/postgresql';
import { matchTotpStep, type OfferedSecret } from '../crypto/totp.ts';
import { endSession, endSessionsOf, type LiveSession } from '../db/consoleSessions.ts';
import { forgiveSignIn } from '../db/counts.ts';
import type { Person } from '../db/entities/people.ts';
import { findPerson, lockPerson, useTotpStep } from '../db/people.ts';
import { OFFER_MILLISECONDS } from '../domain/people.ts';
import { Refusal } from '../errors.ts';
import { countAttempt, type SignInPlace } from './steps/attempts.ts';
import { audited } from './steps/audited.ts';
import { beginSession, type SignInDeps } from './steps/people.ts';

type Session = Pick<LiveSession, 'id' | 'personId' | 'email'>;

/** What somebody proves with that it is still them: the password, and where they have a second factor a code of it. */
interface Proof {
  readonly password: string;
  readonly code: string;
}

/**
 * Offers a new secret to who is signed in and proves that it is them; nothing changes before its first code. Refuses a wrong proof
 * (UNAUTHORIZED), too many of them (RATE_LIMITED), who comes by the OpenID provider, and an operator who never had a second factor:
 * what makes them one is the link of an invitation, not a password alone (FORBIDDEN).
 */
export function offerSecondFactor(
  deps: SignInDeps,
  session: Session,
  proof: Proof,
  place: SignInPlace,
): Promise<OfferedSecret> {
  return proven(deps, session, proof, place, checkMaySetUp, async (_em, _person, now) =>
    deps.totpSecrets.offer(session.id, new Date(now.getTime() + OFFER_MILLISECONDS)),
  );
}

/**
 * Puts a secret that was offered in this session in the place of the one before, by its first code; all sessions of the person end,
 * this one is replaced by the one answered. Refuses what was not offered in this session, or long ago (INVALID_INPUT), a wrong
 * code (UNAUTHORIZED), too many of them (RATE_LIMITED), and whom `offerSecondFactor` refuses (FORBIDDEN).
 */
export async function confirmSecondFactor(
  deps: SignInDeps,
  session: Session,
  input: { offered: string; code: string },
  place: SignInPlace,
): Promise<string> {
  const now = deps.clock();
  const secret = deps.totpSecrets.offered(input.offered, session.id, now);
  if (!secret) throw gone();
  const places = await countAttempt(deps, session.email, place, now);
  const step = matchTotpStep(secret, input.code, now);
  if (step === null) throw refusal('UNAUTHORIZED', 'code.wrong', 'This is not what the app shows now.');
  const token = await deps.orm.em.fork().transactional(async (em) => {
    const person = await lockPerson(em, session.personId);
    checkMaySetUp(person);
    person.sealedTotp = deps.totpSecrets.seal(secret, person.id);
    person.totpStep = step;
    audited(deps, em, { action: 'user.set_second_factor', subject: person.email }, now);
    return renewed(em, session, place, now);
  });
  await forgiveSignIn(deps.orm.em.fork(), places, 1);
  return token;
}

/**
 * Turns off the second factor of who proves that it is them; sessions end as above. Refuses operators, who need one, and who comes by
 * the OpenID provider (FORBIDDEN), who has none (INVALID_INPUT), a wrong proof (UNAUTHORIZED), and too many of them (RATE_LIMITED).
 */
export function removeSecondFactor(
  deps: SignInDeps,
  session: Session,
  proof: Proof,
  place: SignInPlace,
): Promise<string> {
  return proven(deps, session, proof, place, checkMayRemove, async (em, person, now) => {
    person.sealedTotp = null;
    person.totpStep = null;
    audited(deps, em, { action: 'user.remove_second_factor', subject: person.email }, now);
    return renewed(em, session, place, now);
  });
}

/** Does something to a person, locked, who proves that it is them. Every attempt counts as one to sign in, until it proves right. */
async function proven<T>(
  deps: SignInDeps,
  session: Session,
  proof: Proof,
  place: SignInPlace,
  check: (person: Person) => void,
  act: (em: EntityManager, person: Person, now: Date) => Promise<T>,
): Promise<T> {
  const now = deps.clock();
  const known = await findPerson(deps.orm.em.fork(), session.email);
  if (!known) throw wrong();
  // Before anything is counted: no proof would help.
  check(known);
  const places = await countAttempt(deps, session.email, place, now);
  const hash = known.passwordHash;
  const from = { owner: session.personId, known: true };
  if (!(await deps.passwords.matches(proof.password, hash, from))) throw wrong();
  const done = await deps.orm.em.fork().transactional(async (em) => {
    const person = await lockPerson(em, session.personId);
    // Changed or disabled while the password was looked at.
    if (person.passwordHash !== hash || person.disabledAt !== null) throw wrong();
    check(person);
    if (person.sealedTotp !== null) {
      const step = matchTotpStep(deps.totpSecrets.open(person.sealedTotp, person.id), proof.code, now);
      if (step === null || !(await useTotpStep(em, person.id, step))) throw wrong();
    }
    return act(em, person, now);
  });
  await forgiveSignIn(deps.orm.em.fork(), places, 1);
  return done;
}

/** Ends all sessions of a person, this one among them, and begins one in its place; refuses where this one ended meanwhile. */
async function renewed(em: EntityManager, session: Session, place: SignInPlace, now: Date): Promise<string> {
  const { id, personId } = session;
  if (!(await endSession(em, id, now))) throw gone();
  await endSessionsOf(em, personId, {}, now);
  return beginSession(em, { personId, place, method: 'password', complete: true }, now);
}

function checkMaySetUp({ oidcSubject, operatorRole, sealedTotp }: Person): void {
  if (oidcSubject !== null)
    throw refusal(
      'FORBIDDEN',
      'second_factor.of_provider',
      'The OpenID provider looks after the second factor.',
    );
  if (operatorRole !== null && sealedTotp === null)
    throw refusal(
      'FORBIDDEN',
      'second_factor.by_invitation',
      'An operator sets up the first one by an invitation.',
    );
}

function checkMayRemove(person: Person): void {
  checkMaySetUp(person);
  if (person.operatorRole !== null)
    throw refusal('FORBIDDEN', 'second_factor.needed', 'Operators need a second factor.');
  if (person.sealedTotp === null)
    throw refusal('INVALID_INPUT', 'second_factor.none', 'There is no second factor to turn off.');
}

const wrong = (): Refusal =>
  refusal(
    'UNAUTHORIZED',
    'second_factor.wrong',
    'The password or the code is wrong, or the code was used before.',
  );

const gone = (): Refusal =>
  refusal('INVALID_INPUT', 'second_factor.gone', 'This was not offered in this session, or long ago.');

const refusal = (code: Refusal['code'], fault: string, message: string): Refusal =>
  new Refusal(code, message, { faults: [{ path: '', code: fault, message }] });
