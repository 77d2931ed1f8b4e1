import { stepOfCode } from '../crypto/totp.ts';
import { endSession, forgiveSignIn, type LiveSession } from '../db/consoleSessions.ts';
import { findPerson, lockPerson, takeTotpStep } from '../db/people.ts';
import { Refusal } from '../errors.ts';
import { countAttempt, type SignInPlace } from './steps/attempts.ts';
import { audited } from './steps/audited.ts';
import { beginSession, type SignInDeps } from './steps/people.ts';

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
  const isRight = await deps.passwords.matches(input.password, hash ?? null, place.network);
  if (!known || !isRight) throw new Refusal('UNAUTHORIZED', 'Address or password is wrong.');
  await forgiveSignIn(em, places);
  return deps.orm.em.fork().transactional(async (transaction) => {
    const person = await lockPerson(transaction, known.id);
    // Changed or disabled while the password was looked at.
    if (person.passwordHash !== hash) throw new Refusal('UNAUTHORIZED', 'Address or password is wrong.');
    const complete = person.sealedTotp === null;
    const token = await beginSession(
      transaction,
      { personId: person.id, place, method: 'password', complete },
      now,
    );
    if (complete) auditSignIn(deps, transaction, person.email, now);
    return { token, complete };
  });
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
    const step = stepOfCode(deps.totpSecrets.open(person.sealedTotp, person.id), code, now);
    if (step === null || !(await takeTotpStep(em, person.id, step))) throw wrongCode();
    if (!(await endSession(em, session.id, now))) throw wrongCode();
    const token = await beginSession(
      em,
      { personId: person.id, place, method: 'password', complete: true },
      now,
    );
    auditSignIn(deps, em, person.email, now);
    return { token, complete: true };
  });
  await forgiveSignIn(deps.orm.em.fork(), places);
  return begun;
}

const wrongCode = (): Refusal =>
  new Refusal('UNAUTHORIZED', 'This code is wrong, or was used before. Wait for the next one.');

function auditSignIn(deps: SignInDeps, em: Parameters<typeof audited>[1], email: string, now: Date): void {
  audited({ ...deps, actor: `console:${email}` }, em, { action: 'user.sign_in', subject: email }, now);
}
