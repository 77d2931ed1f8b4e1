import { randomUUID } from 'node:crypto';
import { matchTotpStep } from '../crypto/totp.ts';
import { hashWebToken } from '../crypto/webTokens.ts';
import { findMembership, lockAccount } from '../db/accounts.ts';
import { endSessionsOf } from '../db/consoleSessions.ts';
import { Invitation, type Person } from '../db/entities/people.ts';
import {
  endInvitation,
  ensurePerson,
  findInvitation,
  lockPerson,
  putMembership,
  requirePerson,
} from '../db/people.ts';
import type { MemberRole, OperatorRole } from '../domain/people.ts';
import { Refusal } from '../errors.ts';
import { checkNotLastOwner } from './members.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import {
  checkConsoleMayManage,
  checkNewPassword,
  expired,
  invite,
  type NewInvitation,
  passwordOwner,
  type SignInDeps,
} from './steps/people.ts';

/** What somebody is to be: an operator, or a member of an account. */
type Position = { operatorRole: OperatorRole } | { accountId: string; role: MemberRole };

/**
 * Lets a person into the console as an operator or as a member of an account; one who is there gets that position in place
 * of, or beside, what they have; one who was disabled is let in again. Who cannot sign in yet is invited: `invitation` is
 * shown once; null where they can. Who has a password by an account's link is invited anew and signed out: only that account
 * knows who chose it; so is a member who becomes an operator: a second factor set up by a password says no more than it. Refuses an
 * unknown account (NOT_FOUND), to make the last OWNER of one anything else (INVALID_INPUT), and over the console an operator (FORBIDDEN).
 */
export function createUser(
  deps: CommandDeps,
  input: { email: string } & Position,
): Promise<{ person: Person; invitation: NewInvitation | null }> {
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const accountId = 'accountId' in input ? (await lockAccount(em, input.accountId)).id : undefined;
    const person = await ensurePerson(em, { id: randomUUID(), email: input.email, createdAt: now });
    checkConsoleMayManage(deps, person);
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

/**
 * Invites a user anew: for a password that was forgotten, a lost telephone, or one who was disabled and may come back. Until
 * it is accepted what they have stays as it is. Refuses an unknown user (NOT_FOUND), one of the OpenID provider (INVALID_INPUT), and
 * over the console an operator (FORBIDDEN).
 */
export function inviteUser(
  deps: CommandDeps,
  input: { email: string },
): Promise<{ person: Person; invitation: NewInvitation }> {
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const person = await requirePerson(em, input.email);
    if (person.oidcSubject !== null) {
      throw new Refusal(
        'INVALID_INPUT',
        `The user ${person.email} signs in by the OpenID provider and has no password here.`,
      );
    }
    checkConsoleMayManage(deps, person);
    person.disabledAt = null;
    audited(deps, em, { action: 'user.invite', subject: person.email }, now);
    return { person, invitation: await invite(em, person.id, now) };
  });
}

/** The person whom a link invites, and the secret for their authenticator app, whose `code` may be known; null where the link is not good. */
export async function invitedPerson(
  deps: SignInDeps,
  token: string,
  code = '',
): Promise<{ person: Person; secret: Buffer } | null> {
  const now = deps.clock();
  const open = await findInvitation(deps.orm.em.fork(), hashWebToken(token), now);
  return open && { person: open.person, secret: deps.totpSecrets.ofInvitation(token, { code, now }) };
}

/**
 * Sets the password of who was invited, and their second factor where they are an operator or give a `code` of the app that
 * took the secret of the invitation. Sessions from before end. Refuses a link that is not good any more (NOT_FOUND), also to
 * the second of two who accept it at once, and a password or a code that will not do (INVALID_INPUT); the link stays good then.
 */
export async function acceptInvitation(
  deps: SignInDeps,
  input: { token: string; password: string; code: string },
): Promise<Person> {
  const now = deps.clock();
  const tokenHash = hashWebToken(input.token);
  const invited = await invitedPerson(deps, input.token, input.code);
  if (!invited) throw expired();
  checkNewPassword(deps, input.password, await passwordOwner(deps.orm.em.fork(), invited.person));
  const needsCode = invited.person.operatorRole !== null || input.code !== '';
  const totpStep = needsCode ? matchTotpStep(invited.secret, input.code, now) : null;
  if (needsCode && totpStep === null) {
    const message = 'This is not the code that your app shows at the moment.';
    throw new Refusal('INVALID_INPUT', message, { faults: [{ path: '/code', code: 'code.wrong', message }] });
  }
  const passwordHash = await deps.passwords.hash(input.password);
  return deps.orm.em.fork().transactional(async (em) => {
    const open = await findInvitation(em, tokenHash, now);
    if (!open || !(await endInvitation(em, open.invitation.id, now))) throw expired();
    const person = await lockPerson(em, open.person.id);
    // Made an operator while they were accepting: they need the second factor that this form did not ask for.
    if (person.disabledAt !== null || (person.operatorRole !== null && totpStep === null)) throw expired();
    // Came by the OpenID provider meanwhile: from then on that is the only way in.
    if (person.oidcSubject !== null) throw expired();
    person.passwordHash = passwordHash;
    person.passwordByAccount = false;
    person.sealedTotp = totpStep === null ? null : deps.totpSecrets.seal(invited.secret, person.id);
    person.totpStep = totpStep;
    await endSessionsOf(em, person.id, {}, now);
    audited(
      { ...deps, actor: `console:${person.email}` },
      em,
      { action: 'user.join', subject: person.email },
      now,
    );
    return person;
  });
}

/**
 * Shuts a user out: sessions and invitations end at once, nobody signs in as them, and an operator is none any more. What they
 * did stays in the audit. An invitation lets them in again as a member; an operator is made anew by `createUser`. Refuses an
 * unknown one (NOT_FOUND), and over the console an operator (FORBIDDEN).
 */
export function disableUser(
  deps: CommandDeps,
  input: { email: string; reason?: string | undefined },
): Promise<Person> {
  const { reason } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const person = await requirePerson(em, input.email);
    checkConsoleMayManage(deps, person);
    person.disabledAt ??= now;
    person.operatorRole = null;
    person.passwordHash = null;
    person.passwordByAccount = false;
    person.sealedTotp = null;
    await endSessionsOf(em, person.id, {}, now);
    await em.nativeUpdate(Invitation, { personId: person.id, endedAt: null }, { endedAt: now });
    const why = reason === undefined ? {} : { reason };
    audited(deps, em, { action: 'user.disable', subject: person.email, ...why }, now);
    return person;
  });
}
