import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { matchTotpStep } from '../crypto/totp.ts';
import { createWebToken, hashWebToken } from '../crypto/webTokens.ts';
import {
  countOtherOwners,
  endAccountInvitation,
  findAccountInvitation,
  findMembership,
  insertAccountInvitation,
  lockAccount,
  requireAccount,
} from '../db/accounts.ts';
import { endSessionsOf } from '../db/consoleSessions.ts';
import { buildEnterpriseObject } from '../db/enterprises.ts';
import type { Enterprise } from '../db/entities/enterprises.ts';
import { AccountInvitation, Membership, type Person } from '../db/entities/people.ts';
import { recordEvent } from '../db/events.ts';
import { ensurePerson, findPerson, lockPerson, putMembership } from '../db/people.ts';
import { INVITATION_MILLISECONDS, type MemberRole } from '../domain/people.ts';
import { enterpriseUpdated } from '../domain/webhookEvents.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { checkNewPassword, expired, type NewInvitation, type SignInDeps } from './steps/people.ts';

/** The membership of a person in an account; refuses one that is none (NOT_FOUND). */
async function requireMembership(
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

/** Records `enterprise.updated` for the account whose role has changed, and for no other; null is no role. */
export async function recordRoleChange(
  em: EntityManager,
  enterprise: Enterprise,
  change: { accountId: string; from: MemberRole | null; to: MemberRole | null },
  now: Date,
): Promise<void> {
  const { accountId, from, to } = change;
  if (from === to) return;
  const object = await buildEnterpriseObject(em, enterprise, now);
  const about = { rut: enterprise.rut, environment: 'production' as const, accountId };
  await recordEvent(em, about, enterpriseUpdated(object, { role: { from, to } }), now);
}

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
    if (
      (await em.count(AccountInvitation, { accountId, createdAt: { $gt: yesterday } })) >= INVITATIONS_A_DAY
    ) {
      const message = `The account has invited ${INVITATIONS_A_DAY} times in 24 hours, the maximum.`;
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

/** An invitation into an account, as whoever has its link may see it. */
export interface OpenMembership {
  readonly email: string;
  readonly role: AccountInvitation['role'];
  readonly accountName: string;
  /** For their authenticator app, where the link sets the password. */
  readonly secret: Buffer;
  /** Whether the link sets the password; else they accept as who they are, signed in. */
  readonly setsPassword: boolean;
}

/** What the link of an invitation into an account stands for, the app's `code` being known or not; null where it is not good. */
export async function openMembership(
  deps: SignInDeps,
  token: string,
  code = '',
): Promise<OpenMembership | null> {
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
    setsPassword: person === null || (await ownsNothing(em, person)),
  };
}

/**
 * Whether nothing but their name stands behind a person: then, and only then, an account's link may set their password. Of everybody
 * else it would hand what they have elsewhere to whoever made the link.
 */
async function ownsNothing(em: EntityManager, person: Person): Promise<boolean> {
  const { operatorRole, oidcSubject, id } = person;
  return (
    operatorRole === null && oidcSubject === null && (await em.count(Membership, { personId: id })) === 0
  );
}

/**
 * Accepts an invitation into an account as somebody new: sets the password, and the second factor where a code is given. Refuses a
 * link that is not good, also to the second of two at once (NOT_FOUND), a person who has anything here already (FORBIDDEN), and a
 * password or a code that will not do (INVALID_INPUT).
 */
export async function joinAsNew(
  deps: SignInDeps,
  input: { token: string; password: string; code: string },
): Promise<void> {
  const now = deps.clock();
  const open = await openMembership(deps, input.token, input.code);
  if (!open) throw expired();
  checkNewPassword(deps, input.password, { email: open.email, accountNames: [open.accountName] });
  const totpStep = input.code === '' ? null : matchTotpStep(open.secret, input.code, now);
  if (input.code !== '' && totpStep === null) {
    const message = 'This is not the code that your app shows at the moment.';
    throw new Refusal('INVALID_INPUT', message, { faults: [{ path: '/code', code: 'code.wrong', message }] });
  }
  const passwordHash = await deps.passwords.hash(input.password);
  await deps.orm.em.fork().transactional(async (em) => {
    const { person, invitation } = await take(em, input.token, now);
    if (!(await ownsNothing(em, person))) throw notYours();
    person.passwordHash = passwordHash;
    person.passwordByAccount = true;
    person.sealedTotp = totpStep === null ? null : deps.totpSecrets.seal(open.secret, person.id);
    person.totpStep = totpStep;
    await endSessionsOf(em, person.id, {}, now);
    await join(deps, em, person, invitation, now);
  });
}

/**
 * Accepts an invitation into an account as who is signed in. Refuses a link that is not good (NOT_FOUND), and one that is for
 * somebody else (FORBIDDEN).
 */
export async function joinSignedIn(
  deps: SignInDeps,
  input: { token: string; personId: string },
): Promise<void> {
  const now = deps.clock();
  await deps.orm.em.fork().transactional(async (em) => {
    const { person, invitation } = await take(em, input.token, now);
    if (person.id !== input.personId) throw notYours();
    await join(deps, em, person, invitation, now);
  });
}

/** Ends the invitation; its person, locked. */
async function take(
  em: EntityManager,
  token: string,
  now: Date,
): Promise<{ person: Person; invitation: AccountInvitation }> {
  const invitation = await findAccountInvitation(em, hashWebToken(token), now);
  if (!invitation) throw expired();
  await lockAccount(em, invitation.accountId);
  if (!(await endAccountInvitation(em, invitation, now))) throw expired();
  const { email } = invitation;
  const person = await ensurePerson(em, { id: randomUUID(), email, createdAt: now });
  if (person.disabledAt !== null) throw expired();
  return { person, invitation };
}

async function join(
  deps: SignInDeps,
  em: EntityManager,
  { id: personId, email }: Person,
  { accountId, role }: AccountInvitation,
  now: Date,
): Promise<void> {
  await putMembership(em, { personId, accountId, role, createdAt: now });
  const act = { action: 'member.join', subject: email, accountId, reason: role } as const;
  audited({ ...deps, actor: `console:${email}` }, em, act, now);
}

function notYours(): Refusal {
  const message = 'This invitation is for somebody who has a user here: sign in with that address first.';
  return new Refusal('FORBIDDEN', message, { faults: [{ path: '', code: 'invitation.sign_in', message }] });
}

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
    await em.nativeDelete(Membership, { personId: membership.personId, accountId: membership.accountId });
    audited(deps, em, { action: 'member.remove', subject: email, accountId, reason }, deps.clock());
    return { email };
  });
}
