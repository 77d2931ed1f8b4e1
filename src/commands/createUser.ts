import { randomUUID } from 'node:crypto';
import { requireAccount } from '../db/accounts.ts';
import type { Person } from '../db/entities/Person.ts';
import { ensurePerson, putMembership } from '../db/people.ts';
import type { MemberRole, OperatorRole } from '../domain/people.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { invite, type NewInvitation } from './steps/people.ts';

/** What somebody is to be: an operator, or a member of an account. */
type Position = { operatorRole: OperatorRole } | { accountId: string; role: MemberRole };

/**
 * Lets a person into the console as an operator or as a member of an account; one who is there gets that position in place
 * of, or beside, what they have; one who was disabled is let in again. Who cannot sign in yet is invited: `invitation` is
 * shown once; null where they can. Refuses an unknown account (NOT_FOUND).
 */
export function createUser(
  deps: CommandDeps,
  input: { email: string } & Position,
): Promise<{ person: Person; invitation: NewInvitation | null }> {
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const accountId = 'accountId' in input ? (await requireAccount(em, input.accountId)).id : undefined;
    const person = await ensurePerson(em, { id: randomUUID(), email: input.email, createdAt: now });
    person.disabledAt = null;
    if ('operatorRole' in input) person.operatorRole = input.operatorRole;
    else if (accountId !== undefined) {
      await putMembership(em, { personId: person.id, accountId, role: input.role, createdAt: now });
    }
    audited(
      deps,
      em,
      { action: 'user.create', subject: person.email, ...(accountId === undefined ? {} : { accountId }) },
      now,
    );
    return { person, invitation: canSignIn(person) ? null : await invite(em, person.id, now) };
  });
}

/** Operators need a second factor, unless they come by the OpenID provider. */
const canSignIn = ({ passwordHash, sealedTotp, operatorRole, oidcSubject }: Person): boolean =>
  oidcSubject !== null || (passwordHash !== null && (operatorRole === null || sealedTotp !== null));
