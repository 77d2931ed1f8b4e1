import { randomUUID } from 'node:crypto';
import { matchTotpStep } from '../../crypto/totp.ts';
import { hashWebToken } from '../../crypto/webTokens.ts';
import { Invitation, type Person } from '../../db/entities/people.ts';
import { findMembership, lockAccount } from '../../db/people/accounts.ts';
import { endSessionsOf } from '../../db/people/consoleSessions.ts';
import {
  endInvitation,
  ensurePerson,
  findInvitation,
  lockPerson,
  putMembership,
  requirePerson,
} from '../../db/people/people.ts';
import type { MemberRole, OperatorRole } from '../../domain/people/people.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import {
  checkConsoleMayManage,
  checkNewPassword,
  createInvitation,
  findPasswordOwner,
  invitationExpired,
  type NewInvitation,
  type SignInDeps,
} from '../steps/people.ts';
import { checkNotLastOwner } from './members.ts';

type Position = { operatorRole: OperatorRole } | { accountId: string; role: MemberRole };

/**
 * Gives a person access to the console as an operator or a member; a disabled one is enabled. A person who
 * cannot sign in gets an `invitation`, shown once. A password set through an account's link is reset, because
 * only that account knows who chose it; so is the sign-in of a member who becomes an operator, because that
 * second factor was set up with a password alone. Throws NOT_FOUND for an unknown account, INVALID_INPUT for
 * demoting a last OWNER, and FORBIDDEN in the console for an operator.
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
      const membership = await findMembership(em, person.id, accountId);
      if (membership && input.role !== 'OWNER') await checkNotLastOwner(em, membership);
      await putMembership(em, { personId: person.id, accountId, role: input.role, createdAt: now });
    }
    auditAct(
      deps,
      em,
      { action: 'user.create', subject: person.email, ...(accountId === undefined ? {} : { accountId }) },
      now,
    );
    return { person, invitation: canSignIn(person) ? null : await createInvitation(em, person.id, now) };
  });
}

/** Operators need a second factor, except those of the OpenID provider. */
const canSignIn = ({ passwordHash, sealedTotp, operatorRole, oidcSubject }: Person): boolean =>
  oidcSubject !== null || (passwordHash !== null && (operatorRole === null || sealedTotp !== null));

/**
 * Invites a user again, after a lost password or telephone, or enables a disabled one. The current sign-in
 * works until it is accepted. Throws NOT_FOUND for an unknown user, INVALID_INPUT for one of the OpenID
 * provider, and FORBIDDEN in the console for an operator.
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
    auditAct(deps, em, { action: 'user.invite', subject: person.email }, now);
    return { person, invitation: await createInvitation(em, person.id, now) };
  });
}

/**
 * Returns the person of an invitation link and the secret for their app, whose `code` may be given; null for
 * an invalid link.
 */
export async function findInvitedPerson(
  deps: SignInDeps,
  token: string,
  code = '',
): Promise<{ person: Person; secret: Buffer } | null> {
  const now = deps.clock();
  const open = await findInvitation(deps.orm.em.fork(), hashWebToken(token), now);
  return open && { person: open.person, secret: deps.totpSecrets.ofInvitation(token, { code, now }) };
}

/**
 * Sets the password of an invited person and, for operators or with a `code`, the second factor; ends their
 * sessions. Throws NOT_FOUND for an invalid link (also to the second of two at once), and INVALID_INPUT for
 * an invalid password or code, after which the link stays valid.
 */
export async function acceptInvitation(
  deps: SignInDeps,
  input: { token: string; password: string; code: string },
): Promise<Person> {
  const now = deps.clock();
  const tokenHash = hashWebToken(input.token);
  const invited = await findInvitedPerson(deps, input.token, input.code);
  if (!invited) throw invitationExpired();
  checkNewPassword(deps, input.password, await findPasswordOwner(deps.orm.em.fork(), invited.person));
  const needsCode = invited.person.operatorRole !== null || input.code !== '';
  const totpStep = needsCode ? matchTotpStep(invited.secret, input.code, now) : null;
  if (needsCode && totpStep === null) {
    const message = 'This is not the code that your app shows now.';
    throw new Refusal('INVALID_INPUT', message, { faults: [{ path: '/code', code: 'code.wrong', message }] });
  }
  const passwordHash = await deps.passwords.hash(input.password);
  return deps.orm.em.fork().transactional(async (em) => {
    const open = await findInvitation(em, tokenHash, now);
    if (!open || !(await endInvitation(em, open.invitation.id, now))) throw invitationExpired();
    const person = await lockPerson(em, open.person.id);
    // Became an operator meanwhile, but this form did not ask for the second factor.
    if (person.disabledAt !== null || (person.operatorRole !== null && totpStep === null))
      throw invitationExpired();
    // Signed in with the OpenID provider meanwhile, which is then the only way in.
    if (person.oidcSubject !== null) throw invitationExpired();
    person.passwordHash = passwordHash;
    person.passwordByAccount = false;
    person.sealedTotp = totpStep === null ? null : deps.totpSecrets.seal(invited.secret, person.id);
    person.totpStep = totpStep;
    await endSessionsOf(em, person.id, {}, now);
    auditAct(
      { ...deps, actor: `console:${person.email}` },
      em,
      { action: 'user.join', subject: person.email },
      now,
    );
    return person;
  });
}

/**
 * Disables a user: ends sessions and invitations at once and removes the operator role; the audit stays. An
 * invitation enables them as a member; only `createUser` makes them an operator again. Throws NOT_FOUND for
 * an unknown user, and FORBIDDEN in the console for an operator.
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
    auditAct(deps, em, { action: 'user.disable', subject: person.email, ...why }, now);
    return person;
  });
}
