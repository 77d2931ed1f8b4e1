import { endSessionsOf, forgiveSignIn, type LiveSession } from '../db/consoleSessions.ts';
import { findPerson, lockPerson } from '../db/people.ts';
import { Refusal } from '../errors.ts';
import { countAttempt, type SignInPlace } from './steps/attempts.ts';
import { audited } from './steps/audited.ts';
import { checkNewPassword, type SignInDeps } from './steps/people.ts';

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
  if (!(await deps.passwords.matches(input.old, hash, session.personId))) throw wrong();
  await forgiveSignIn(deps.orm.em.fork(), places);
  checkNewPassword(input.password, session);
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
