import { randomUUID } from 'node:crypto';
import { lockAccount } from '../db/accounts.ts';
import { endSessionsOf } from '../db/consoleSessions.ts';
import type { Person } from '../db/entities/Person.ts';
import { findMembership } from '../db/members.ts';
import { ensurePerson, putMembership } from '../db/people.ts';
import type { MemberRole, OperatorRole } from '../domain/people.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { checkNotLastOwner } from './steps/members.ts';
import { invite, type NewInvitation } from './steps/people.ts';

/** What somebody is to be: an operator, or a member of an account. */
type Position = { operatorRole: OperatorRole } | { accountId: string; role: MemberRole };

/**
 * Lets a person into the console as an operator or as a member of an account; one who is there gets that position in place
 * of, or beside, what they have; one who was disabled is let in again. Who cannot sign in yet is invited: `invitation` is
 * shown once; null where they can. Who has a password by an account's link is invited anew and signed out: only that account
 * knows who chose it; so is a member who becomes an operator: a second factor set up by a password says no more than it. Refuses an unknown account (NOT_FOUND), and to make the last OWNER of one anything else (INVALID_INPUT).
 */
export function createUser(
  deps: CommandDeps,
  input: { email: string } & Position,
): Promise<{ person: Person; invitation: NewInvitation | null }> {
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const accountId = 'accountId' in input ? (await lockAccount(em, input.accountId)).id : undefined;
    const person = await ensurePerson(em, { id: randomUUID(), email: input.email, createdAt: now });
    person.disabledAt = null;
    const isNewOperator = 'operatorRole' in input && person.operatorRole === null;
    if (person.passwordByAccount || (isNewOperator && person.sealedTotp !== null)) {
      Object.assign(person, {
        passwordHash: null,
        sealedTotp: null,
        totpStep: null,
        passwordByAccount: false,
      } satisfies Partial<Person>);
      await endSessionsOf(em, person.id, {}, now);
    }
    if ('operatorRole' in input) person.operatorRole = input.operatorRole;
    else if (accountId !== undefined) {
      const held = await findMembership(em, person.id, accountId);
      if (held && input.role !== 'OWNER') await checkNotLastOwner(em, held);
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
