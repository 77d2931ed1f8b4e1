import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { stepOfCode } from '../crypto/totp.ts';
import { hashOfWebToken } from '../crypto/webTokens.ts';
import { lockAccount, requireAccount } from '../db/accounts.ts';
import { endSessionsOf } from '../db/consoleSessions.ts';
import type { AccountInvitation } from '../db/entities/AccountInvitation.ts';
import type { Person } from '../db/entities/Person.ts';
import { countMemberships, endAccountInvitation, openAccountInvitation } from '../db/members.ts';
import { ensurePerson, findPerson, putMembership } from '../db/people.ts';
import { Refusal } from '../errors.ts';
import { expired } from './acceptInvitation.ts';
import { audited } from './steps/audited.ts';
import { checkNewPassword, type SignInDeps } from './steps/people.ts';

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

/** What the link of an invitation into an account stands for; null where it is not good. */
export async function openMembership(deps: SignInDeps, token: string): Promise<OpenMembership | null> {
  const em = deps.orm.em.fork();
  const invitation = await openAccountInvitation(em, hashOfWebToken(token), deps.clock());
  if (!invitation) return null;
  const person = await findPerson(em, invitation.email);
  if (person && person.disabledAt !== null) return null;
  const { name: accountName } = await requireAccount(em, invitation.accountId);
  return {
    email: invitation.email,
    role: invitation.role,
    accountName,
    secret: deps.totpSecrets.ofInvitation(token),
    setsPassword: person === null || (await ownsNothing(em, person)),
  };
}

/**
 * Whether nothing but their name stands behind a person: then, and only then, an account's link may set their password. Of everybody
 * else it would hand what they have elsewhere to whoever made the link.
 */
async function ownsNothing(em: EntityManager, person: Person): Promise<boolean> {
  const { operatorRole, oidcSubject, id } = person;
  return operatorRole === null && oidcSubject === null && (await countMemberships(em, id)) === 0;
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
  const open = await openMembership(deps, input.token);
  if (!open) throw expired();
  checkNewPassword(input.password, open);
  const totpStep = input.code === '' ? null : stepOfCode(open.secret, input.code, now);
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
  const invitation = await openAccountInvitation(em, hashOfWebToken(token), now);
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
