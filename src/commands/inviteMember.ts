import { randomUUID } from 'node:crypto';
import { hashOfWebToken, newWebToken } from '../crypto/webTokens.ts';
import { lockAccount } from '../db/accounts.ts';
import {
  countAccountInvitations,
  endAccountInvitation,
  findMembership,
  insertAccountInvitation,
} from '../db/members.ts';
import { findPerson } from '../db/people.ts';
import { INVITATION_MILLISECONDS, type MemberRole } from '../domain/people.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import type { NewInvitation } from './steps/people.ts';

/** Invitations that an account may make in a day: nobody floods the table, or the audit. */
const INVITATIONS_A_DAY = 100;
const DAY_MILLISECONDS = 86_400_000;

/**
 * Invites an address into an account; the link is shown once. Nothing changes for that person until they accept it (acceptMembership). One
 * that was made for the address before ends. Refuses who is a member already (INVALID_INPUT), and too many in a day (RATE_LIMITED).
 */
export function inviteMember(
  deps: CommandDeps,
  input: { accountId: string; email: string; role: MemberRole },
): Promise<NewInvitation> {
  const { email, role } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const { id: accountId } = await lockAccount(em, input.accountId);
    const now = deps.clock();
    const person = await findPerson(em, email);
    if (person && (await findMembership(em, person.id, accountId))) {
      const message = 'This person is a member of the account already.';
      throw new Refusal('INVALID_INPUT', message, {
        faults: [{ path: '/email', code: 'member.already', message }],
      });
    }
    const yesterday = new Date(now.getTime() - DAY_MILLISECONDS);
    if ((await countAccountInvitations(em, accountId, yesterday)) >= INVITATIONS_A_DAY) {
      const message = `The account has invited ${INVITATIONS_A_DAY} times in 24 hours, the maximum.`;
      const faults = [{ path: '', code: 'member.too_many_invitations', message }];
      throw new Refusal('RATE_LIMITED', message, { faults, retryAfterSeconds: DAY_MILLISECONDS / 1_000 });
    }
    const token = newWebToken();
    const expiresAt = new Date(now.getTime() + INVITATION_MILLISECONDS);
    await insertAccountInvitation(em, {
      id: randomUUID(),
      accountId,
      email,
      role,
      tokenHash: hashOfWebToken(token),
      createdAt: now,
      expiresAt,
    });
    audited(
      deps,
      em,
      { action: 'member.invite', subject: email.toLowerCase(), accountId, reason: role },
      now,
    );
    return { token, expiresAt };
  });
}

/** Takes an invitation into an account back. Refuses one that is not open (NOT_FOUND). */
export function withdrawMemberInvitation(
  deps: CommandDeps,
  input: { accountId: string; invitationId: string },
): Promise<void> {
  const { accountId, invitationId: id } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const ended = await endAccountInvitation(em, { id, accountId }, now);
    if (!ended) throw new Refusal('NOT_FOUND', 'This invitation is not open any more.');
    audited(deps, em, { action: 'member.withdraw', subject: ended.email, accountId }, now);
  });
}
