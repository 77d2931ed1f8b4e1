import { endSessionsOf } from '../db/consoleSessions.ts';
import type { Person } from '../db/entities/Person.ts';
import { requirePerson, withdrawInvitations } from '../db/people.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Shuts a user out: sessions and invitations end at once, nobody signs in as them. What they did stays in the audit, and an
 * invitation lets them in again. Refuses an unknown one (NOT_FOUND).
 */
export function disableUser(
  deps: CommandDeps,
  input: { email: string; reason?: string | undefined },
): Promise<Person> {
  const { reason } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const person = await requirePerson(em, input.email);
    person.disabledAt ??= now;
    person.passwordHash = null;
    person.passwordByAccount = false;
    person.sealedTotp = null;
    await endSessionsOf(em, person.id, {}, now);
    await withdrawInvitations(em, person.id, now);
    const why = reason === undefined ? {} : { reason };
    audited(deps, em, { action: 'user.disable', subject: person.email, ...why }, now);
    return person;
  });
}
