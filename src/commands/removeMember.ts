import { lockAccount } from '../db/accounts.ts';
import { deleteMembership } from '../db/members.ts';
import { lockPerson } from '../db/people.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { checkNotLastOwner, requireMembership } from './steps/members.ts';

/**
 * Takes a person out of an account: from their next request on they see nothing of it. Refuses who is no member (NOT_FOUND)
 * and the last OWNER (INVALID_INPUT). Answers who it was.
 */
export function removeMember(
  deps: CommandDeps,
  input: { accountId: string; personId: string; reason?: string },
): Promise<{ email: string }> {
  const { accountId, personId, reason } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    await lockAccount(em, accountId);
    const membership = await requireMembership(em, input);
    await checkNotLastOwner(em, membership);
    const { email } = await lockPerson(em, personId);
    await deleteMembership(em, membership);
    const why = reason === undefined ? {} : { reason };
    audited(deps, em, { action: 'member.remove', subject: email, accountId, ...why }, deps.clock());
    return { email };
  });
}
