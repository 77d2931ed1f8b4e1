import type { EntityManager } from '@mikro-orm/postgresql';
import type { Membership } from '../../db/entities/Membership.ts';
import { countOtherOwners, findMembership } from '../../db/members.ts';
import { Refusal } from '../../errors.ts';

/** The membership of a person in an account; refuses one that is none (NOT_FOUND). */
export async function requireMembership(
  em: EntityManager,
  { personId, accountId }: { personId: string; accountId: string },
): Promise<Membership> {
  const membership = await findMembership(em, personId, accountId);
  if (!membership) throw new Refusal('NOT_FOUND', 'This person is no member of the account.');
  return membership;
}

/** Refuses to take an account's last OWNER away (INVALID_INPUT). The account is locked by the open transaction. */
export async function checkNotLastOwner(
  em: EntityManager,
  { role, accountId, personId }: Membership,
): Promise<void> {
  if (role !== 'OWNER' || (await countOtherOwners(em, accountId, personId)) > 0) return;
  const message = 'This is the last OWNER of the account; make somebody else an OWNER first.';
  throw new Refusal('INVALID_INPUT', message, {
    faults: [{ path: '/role', code: 'member.last_owner', message }],
  });
}
