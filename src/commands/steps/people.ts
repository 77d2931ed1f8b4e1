import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Passwords } from '../../crypto/passwords.ts';
import type { TotpSecrets } from '../../crypto/totp.ts';
import { createWebToken, hashWebToken } from '../../crypto/webTokens.ts';
import type { Person } from '../../db/entities/people.ts';
import { insertSession } from '../../db/people/consoleSessions.ts';
import { insertInvitation, listMemberships } from '../../db/people/people.ts';
import { PASSWORD_LENGTH, type PasswordOwner, passwordFault } from '../../domain/people/passwords.ts';
import { INVITATION_MILLISECONDS, type SignInMethod } from '../../domain/people/people.ts';
import { Refusal } from '../../errors.ts';
import type { CommandDeps } from './deps.ts';

/** Dependencies of signing in, beyond the database. */
export interface SignInDeps extends CommandDeps {
  readonly passwords: Passwords;
  readonly totpSecrets: TotpSecrets;
}

/** A link that sets a password; the token is shown once. */
export interface NewInvitation {
  readonly token: string;
  readonly expiresAt: Date;
}

export interface ClientOrigin {
  readonly address: string;
  /** The browser's user agent. */
  readonly browser: string;
}

/** Invites a person, in the open transaction, replacing an earlier invitation. */
export async function createInvitation(
  em: EntityManager,
  personId: string,
  now: Date,
): Promise<NewInvitation> {
  const token = createWebToken();
  const expiresAt = new Date(now.getTime() + INVITATION_MILLISECONDS);
  await insertInvitation(em, {
    id: randomUUID(),
    personId,
    tokenHash: hashWebToken(token),
    createdAt: now,
    expiresAt,
  });
  return { token, expiresAt };
}

/**
 * Throws FORBIDDEN when the console would change an operator: only the command line manages operators, so that a stolen
 * ADMIN session cannot create another operator. Also protects disabled OpenID users: once enabled, the provider's claims
 * would make them operators again.
 */
export function checkConsoleMayManage(
  { actor }: Pick<CommandDeps, 'actor'>,
  { email, operatorRole, oidcSubject, disabledAt }: Person,
): void {
  if (!actor?.startsWith('console:')) return;
  if (operatorRole !== null)
    throw notOverConsole(
      'user.operator',
      `${email} is an operator: operators are managed at the command line (cfe user).`,
    );
  if (oidcSubject !== null && disabledAt !== null)
    throw notOverConsole(
      'user.dismissed',
      `${email} came by the OpenID provider and was disabled: only the command line lets them in again (cfe user).`,
    );
}

const notOverConsole = (code: string, message: string): Refusal =>
  new Refusal('FORBIDDEN', message, { faults: [{ path: '', code, message }] });

const BROWSER_LENGTH = 200;

/** Starts a session in the open transaction, always with a new token. */
export function startSession(
  em: EntityManager,
  {
    personId,
    place,
    ...how
  }: { personId: string; place: ClientOrigin; method: SignInMethod; complete: boolean },
  now: Date,
): string {
  const token = createWebToken();
  insertSession(em, {
    id: randomUUID(),
    tokenHash: hashWebToken(token),
    personId,
    ...how,
    address: place.address,
    browser: place.browser.slice(0, BROWSER_LENGTH),
    createdAt: now,
  });
  return token;
}

/** Throws INVALID_INPUT for a password that is not allowed. */
export function checkNewPassword(
  { passwords }: Pick<SignInDeps, 'passwords'>,
  password: string,
  owner: PasswordOwner,
): void {
  const fault = passwordFault(password, owner, (text) => passwords.isCommon(text));
  if (fault === undefined) return;
  const message =
    fault === 'length'
      ? `A password has ${PASSWORD_LENGTH.shortest} to ${PASSWORD_LENGTH.longest} characters.`
      : 'This password is too easy to guess: it repeats a few characters, or consists only of common passwords, your address or account, words of this service, and digits.';
  throw new Refusal('INVALID_INPUT', message, {
    faults: [{ path: '/password', code: `password.${fault}`, message }],
  });
}

/** Returns public facts about a person, which their password must not consist of. */
export async function findPasswordOwner(
  em: EntityManager,
  { id, email }: Pick<Person, 'id' | 'email'>,
): Promise<PasswordOwner> {
  const memberships = (await listMemberships(em, [id])).get(id) ?? [];
  return { email, accountNames: memberships.map(({ accountName }) => accountName) };
}

/** Returns the refusal of an invitation that is no longer valid. */
export function invitationExpired(): Refusal {
  const message = 'This invitation was used, was replaced by a later one, or is older than a day.';
  return new Refusal('NOT_FOUND', message, { faults: [{ path: '', code: 'invitation.gone', message }] });
}
