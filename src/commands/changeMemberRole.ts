import { lockAccount } from '../db/accounts.ts';
import { lockPerson } from '../db/people.ts';
import type { MemberRole } from '../domain/people.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { checkNotLastOwner, requireMembership } from './steps/members.ts';

/**
 * Makes a member of an account something else there, from their next request on. Refuses who is no member (NOT_FOUND) and
 * the last OWNER (INVALID_INPUT), also of two who are demoted at once. Answers who it is.
 */
export function changeMemberRole(
  deps: CommandDeps,
  input: { accountId: string; personId: string; role: MemberRole },
): Promise<{ email: string }> {
  const { accountId, personId, role } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    await lockAccount(em, accountId);
    const membership = await requireMembership(em, input);
    const { email } = await lockPerson(em, personId);
    if (membership.role === role) return { email };
    await checkNotLastOwner(em, membership);
    const reason = `${membership.role} to ${role}`;
    membership.role = role;
    audited(deps, em, { action: 'member.change_role', subject: email, accountId, reason }, deps.clock());
    return { email };
  });
}
