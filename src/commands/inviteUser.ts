import type { Person } from '../db/entities/Person.ts';
import { requirePerson } from '../db/people.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { invite, type NewInvitation } from './steps/people.ts';

/**
 * Invites a user anew: for a password that was forgotten, a lost telephone, or one who was disabled and may come back. Until
 * it is accepted what they have stays as it is. Refuses an unknown user (NOT_FOUND) and one of the OpenID provider (INVALID_INPUT).
 */
export function inviteUser(
  deps: CommandDeps,
  input: { email: string },
): Promise<{ person: Person; invitation: NewInvitation }> {
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const person = await requirePerson(em, input.email);
    if (person.oidcSubject !== null) {
      throw new Refusal(
        'INVALID_INPUT',
        `The user ${person.email} signs in by the OpenID provider and has no password here.`,
      );
    }
    person.disabledAt = null;
    audited(deps, em, { action: 'user.invite', subject: person.email }, now);
    return { person, invitation: await invite(em, person.id, now) };
  });
}
