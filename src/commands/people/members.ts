import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { matchTotpStep } from '../../crypto/totp.ts';
import { createWebToken, hashWebToken } from '../../crypto/webTokens.ts';
import { buildEnterpriseObject } from '../../db/enterprises/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { AccountInvitation, Membership, type Person } from '../../db/entities/people.ts';
import {
  countOtherOwners,
  endAccountInvitation,
  findAccountInvitation,
  findMembership,
  insertAccountInvitation,
  lockAccount,
  requireAccount,
} from '../../db/people/accounts.ts';
import { endSessionsOf } from '../../db/people/consoleSessions.ts';
import { ensurePerson, findPerson, lockPerson, putMembership } from '../../db/people/people.ts';
import { recordEvent } from '../../db/webhooks/events.ts';
import { INVITATION_MILLISECONDS, type MemberRole } from '../../domain/people/people.ts';
import { enterpriseUpdated } from '../../domain/webhooks/webhookEvents.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { checkNewPassword, invitationExpired, type NewInvitation, type SignInDeps } from '../steps/people.ts';

/** Returns the membership of a person in an account. Throws NOT_FOUND when they are not a member. */
async function requireMembership(
  em: EntityManager,
  { personId, accountId }: { personId: string; accountId: string },
): Promise<Membership> {
  const membership = await findMembership(em, personId, accountId);
  if (!membership) throw new Refusal('NOT_FOUND', 'This person is not a member of the account.');
  return membership;
}

/** Throws INVALID_INPUT for the last OWNER of an account. The open transaction has locked the account. */
export async function checkNotLastOwner(
  em: EntityManager,
  { role, accountId, personId }: Membership,
): Promise<void> {
  if (role !== 'OWNER' || (await countOtherOwners(em, accountId, personId)) > 0) return;
  const message = 'This is the last OWNER of the account; make someone else an OWNER first.';
  throw new Refusal('INVALID_INPUT', message, {
    faults: [{ path: '/role', code: 'member.last_owner', message }],
  });
}

/** Records `enterprise.updated` for the account whose role changed, and no other account; null is no role. */
export async function recordRoleChange(
  em: EntityManager,
  enterprise: Enterprise,
  change: { accountId: string; from: MemberRole | null; to: MemberRole | null },
  now: Date,
): Promise<void> {
  const { accountId, from, to } = change;
  if (from === to) return;
  const object = await buildEnterpriseObject(em, enterprise, now);
  const scope = { rut: enterprise.rut, environment: 'production' as const, accountId };
  await recordEvent(em, scope, enterpriseUpdated(object, { role: { from, to } }), now);
}

/** Daily limit, to keep an account from flooding the table and the audit. */
const INVITATIONS_A_DAY = 100;
const DAY_MILLISECONDS = 86_400_000;

/**
 * Invites an address into an account, replacing an earlier invitation; the link is shown once and has no
 * effect until accepted. Throws INVALID_INPUT for a member, RATE_LIMITED beyond the daily limit.
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
      const message = 'This person is already a member of the account.';
      throw new Refusal('INVALID_INPUT', message, {
        faults: [{ path: '/email', code: 'member.already', message }],
      });
    }
    const yesterday = new Date(now.getTime() - DAY_MILLISECONDS);
    if (
      (await em.count(AccountInvitation, { accountId, createdAt: { $gt: yesterday } })) >= INVITATIONS_A_DAY
    ) {
      const message = `The account has sent ${INVITATIONS_A_DAY} invitations in 24 hours, the maximum.`;
      const faults = [{ path: '', code: 'member.too_many_invitations', message }];
      throw new Refusal('RATE_LIMITED', message, { faults, retryAfterSeconds: DAY_MILLISECONDS / 1_000 });
    }
    const token = createWebToken();
    const expiresAt = new Date(now.getTime() + INVITATION_MILLISECONDS);
    await insertAccountInvitation(em, {
      id: randomUUID(),
      accountId,
      email,
      role,
      tokenHash: hashWebToken(token),
      createdAt: now,
      expiresAt,
    });
    auditAct(
      deps,
      em,
      { action: 'member.invite', subject: email.toLowerCase(), accountId, reason: role },
      now,
    );
    return { token, expiresAt };
  });
}

/** Withdraws an invitation into an account. Throws NOT_FOUND unless it is open. */
export function withdrawMemberInvitation(
  deps: CommandDeps,
  input: { accountId: string; invitationId: string },
): Promise<void> {
  const { accountId, invitationId: id } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const ended = await endAccountInvitation(em, { id, accountId }, now);
    if (!ended) throw new Refusal('NOT_FOUND', 'This invitation is no longer open.');
    auditAct(deps, em, { action: 'member.withdraw', subject: ended.email, accountId }, now);
  });
}

/** An invitation into an account, as shown to the holder of its link. */
export interface MemberInvitation {
  readonly email: string;
  readonly role: AccountInvitation['role'];
  readonly accountName: string;
  /** Secret for the person's authenticator app, when the link sets the password. */
  readonly secret: Buffer;
  /** Whether the link sets the password; otherwise they must sign in to accept it. */
  readonly setsPassword: boolean;
}

/** Returns the invitation of a link, with or without the app's `code`; null for an invalid link. */
export async function findMemberInvitation(
  deps: SignInDeps,
  token: string,
  code = '',
): Promise<MemberInvitation | null> {
  const em = deps.orm.em.fork();
  const now = deps.clock();
  const invitation = await findAccountInvitation(em, hashWebToken(token), now);
  if (!invitation) return null;
  const person = await findPerson(em, invitation.email);
  if (person && person.disabledAt !== null) return null;
  const { name: accountName } = await requireAccount(em, invitation.accountId);
  return {
    email: invitation.email,
    role: invitation.role,
    accountName,
    secret: deps.totpSecrets.ofInvitation(token, { code, now }),
    setsPassword: person === null || (await hasNoAccess(em, person)),
  };
}

/**
 * Returns whether a person has no role, membership or OpenID sign-in. Only then may an account's link set their password:
 * otherwise the creator of the link would gain the person's other access.
 */
async function hasNoAccess(em: EntityManager, person: Person): Promise<boolean> {
  const { operatorRole, oidcSubject, id } = person;
  return (
    operatorRole === null && oidcSubject === null && (await em.count(Membership, { personId: id })) === 0
  );
}

/**
 * Accepts an invitation as a new person: sets the password and, with a code, the second factor. Throws
 * NOT_FOUND for an invalid link (also to the second of two at once), FORBIDDEN for a person with any access
 * here, and INVALID_INPUT for an invalid password or code.
 */
export async function acceptMembershipAsNew(
  deps: SignInDeps,
  input: { token: string; password: string; code: string },
): Promise<void> {
  const now = deps.clock();
  const open = await findMemberInvitation(deps, input.token, input.code);
  if (!open) throw invitationExpired();
  checkNewPassword(deps, input.password, { email: open.email, accountNames: [open.accountName] });
  const totpStep = input.code === '' ? null : matchTotpStep(open.secret, input.code, now);
  if (input.code !== '' && totpStep === null) {
    const message = 'This is not the code that your app shows now.';
    throw new Refusal('INVALID_INPUT', message, { faults: [{ path: '/code', code: 'code.wrong', message }] });
  }
  const passwordHash = await deps.passwords.hash(input.password);
  await deps.orm.em.fork().transactional(async (em) => {
    const { person, invitation } = await redeemInvitation(em, input.token, now);
    if (!(await hasNoAccess(em, person))) throw otherPersonsInvitation();
    person.passwordHash = passwordHash;
    person.passwordByAccount = true;
    person.sealedTotp = totpStep === null ? null : deps.totpSecrets.seal(open.secret, person.id);
    person.totpStep = totpStep;
    await endSessionsOf(em, person.id, {}, now);
    await storeMembership(deps, em, person, invitation, now);
  });
}

/**
 * Accepts an invitation as the signed-in person. Throws NOT_FOUND for an invalid link, FORBIDDEN for one of
 * another person.
 */
export async function acceptMembershipSignedIn(
  deps: SignInDeps,
  input: { token: string; personId: string },
): Promise<void> {
  const now = deps.clock();
  await deps.orm.em.fork().transactional(async (em) => {
    const { person, invitation } = await redeemInvitation(em, input.token, now);
    if (person.id !== input.personId) throw otherPersonsInvitation();
    await storeMembership(deps, em, person, invitation, now);
  });
}

/** Ends the invitation and returns its person, locked. */
async function redeemInvitation(
  em: EntityManager,
  token: string,
  now: Date,
): Promise<{ person: Person; invitation: AccountInvitation }> {
  const invitation = await findAccountInvitation(em, hashWebToken(token), now);
  if (!invitation) throw invitationExpired();
  await lockAccount(em, invitation.accountId);
  if (!(await endAccountInvitation(em, invitation, now))) throw invitationExpired();
  const { email } = invitation;
  const person = await ensurePerson(em, { id: randomUUID(), email, createdAt: now });
  if (person.disabledAt !== null) throw invitationExpired();
  return { person, invitation };
}

async function storeMembership(
  deps: SignInDeps,
  em: EntityManager,
  { id: personId, email }: Person,
  { accountId, role }: AccountInvitation,
  now: Date,
): Promise<void> {
  await putMembership(em, { personId, accountId, role, createdAt: now });
  const act = { action: 'member.join', subject: email, accountId, reason: role } as const;
  auditAct({ ...deps, actor: `console:${email}` }, em, act, now);
}

function otherPersonsInvitation(): Refusal {
  const message =
    'This invitation is for someone who already has a user here: sign in with that address first.';
  return new Refusal('FORBIDDEN', message, { faults: [{ path: '', code: 'invitation.sign_in', message }] });
}

/**
 * Changes a member's role, from their next request on. Returns their address. Throws NOT_FOUND for a
 * non-member, INVALID_INPUT for the last OWNER, also when two are demoted at once.
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
    auditAct(deps, em, { action: 'member.change_role', subject: email, accountId, reason }, deps.clock());
    return { email };
  });
}

/**
 * Removes a person from an account, from their next request on. Returns their address. Throws NOT_FOUND for a
 * non-member, INVALID_INPUT for the last OWNER.
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
    await em.nativeDelete(Membership, { personId: membership.personId, accountId: membership.accountId });
    auditAct(deps, em, { action: 'member.remove', subject: email, accountId, reason }, deps.clock());
    return { email };
  });
}
