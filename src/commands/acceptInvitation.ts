import { stepOfCode } from '../crypto/totp.ts';
import { hashOfWebToken } from '../crypto/webTokens.ts';
import { endSessionsOf } from '../db/consoleSessions.ts';
import type { Person } from '../db/entities/Person.ts';
import { endInvitation, lockPerson, openInvitation } from '../db/people.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import { checkNewPassword, type SignInDeps } from './steps/people.ts';

/** The person whom a link invites, and the secret for their authenticator app; null where the link is not good. */
export async function invitedPerson(
  deps: SignInDeps,
  token: string,
): Promise<{ person: Person; secret: Buffer } | null> {
  const open = await openInvitation(deps.orm.em.fork(), hashOfWebToken(token), deps.clock());
  return open && { person: open.person, secret: deps.totpSecrets.ofInvitation(token) };
}

/**
 * Sets the password of who was invited, and their second factor where they are an operator or give a `code` of the app that
 * took the secret of the invitation. Sessions from before end. Refuses a link that is not good any more (NOT_FOUND), also to
 * the second of two who accept it at once, and a password or a code that will not do (INVALID_INPUT); the link stays good then.
 */
export async function acceptInvitation(
  deps: SignInDeps,
  input: { token: string; password: string; code: string },
): Promise<Person> {
  const now = deps.clock();
  const tokenHash = hashOfWebToken(input.token);
  const invited = await invitedPerson(deps, input.token);
  if (!invited) throw expired();
  checkNewPassword(input.password, invited.person);
  const needsCode = invited.person.operatorRole !== null || input.code !== '';
  const totpStep = needsCode ? stepOfCode(invited.secret, input.code, now) : null;
  if (needsCode && totpStep === null) {
    const message = 'This is not the code that your app shows at the moment.';
    throw new Refusal('INVALID_INPUT', message, { faults: [{ path: '/code', code: 'code.wrong', message }] });
  }
  const passwordHash = await deps.passwords.hash(input.password);
  return deps.orm.em.fork().transactional(async (em) => {
    const open = await openInvitation(em, tokenHash, now);
    if (!open || !(await endInvitation(em, open.invitation.id, now))) throw expired();
    const person = await lockPerson(em, open.person.id);
    // Made an operator while they were accepting: they need the second factor that this form did not ask for.
    if (person.disabledAt !== null || (person.operatorRole !== null && totpStep === null)) throw expired();
    person.passwordHash = passwordHash;
    person.passwordByAccount = false;
    person.sealedTotp = totpStep === null ? null : deps.totpSecrets.seal(invited.secret, person.id);
    person.totpStep = totpStep;
    await endSessionsOf(em, person.id, {}, now);
    audited(
      { ...deps, actor: `console:${person.email}` },
      em,
      { action: 'user.join', subject: person.email },
      now,
    );
    return person;
  });
}

/** Says that an invitation is not good any more. */
export function expired(): Refusal {
  const message = 'This invitation was used, was replaced by a later one, or is older than a day.';
  return new Refusal('NOT_FOUND', message, { faults: [{ path: '', code: 'invitation.gone', message }] });
}
