import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Passwords } from '../../crypto/passwords.ts';
import type { TotpSecrets } from '../../crypto/totp.ts';
import { createWebToken, hashWebToken } from '../../crypto/webTokens.ts';
import { insertSession } from '../../db/consoleSessions.ts';
import type { Person } from '../../db/entities/people.ts';
import { insertInvitation, listMemberships } from '../../db/people.ts';
import { PASSWORD_LENGTH, type PasswordOwner, passwordFault } from '../../domain/passwords.ts';
import { INVITATION_MILLISECONDS, type SignInMethod } from '../../domain/people.ts';
import { Refusal } from '../../errors.ts';
import type { CommandDeps } from './deps.ts';

/** What signing in needs beside the database. */
export interface SignInDeps extends CommandDeps {
  readonly passwords: Passwords;
  readonly totpSecrets: TotpSecrets;
}

/** A link that sets a password; the token is told once. */
export interface NewInvitation {
  readonly token: string;
  readonly expiresAt: Date;
}

/** From where somebody signs in. */
export interface Place {
  readonly address: string;
  /** As the browser calls itself. */
  readonly browser: string;
}

/** Invites a person, with the open transaction; an invitation before that ends with it. */
export async function invite(em: EntityManager, personId: string, now: Date): Promise<NewInvitation> {
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
 * Refuses what the console would do to an operator (FORBIDDEN): who they are, whether they may come in and by which link is the command
 * line's alone, so that a stolen session of an ADMIN makes no second one. So it is with whoever came by the OpenID provider and was
 * disabled: let in again, as a member too, they would be an operator at once where the provider's claim still says so.
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

/** Begins a session with the open transaction; its token is new, whatever the browser had before. */
export function beginSession(
  em: EntityManager,
  { personId, place, ...how }: { personId: string; place: Place; method: SignInMethod; complete: boolean },
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

/** Refuses a password that may not be set (INVALID_INPUT). */
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
      : 'This password is too easy to guess: it repeats a few characters, or has nothing but common passwords, your address or account, words of this service, and digits.';
  throw new Refusal('INVALID_INPUT', message, {
    faults: [{ path: '/password', code: `password.${fault}`, message }],
  });
}

/** What others know of a person, which their password must not be made of. */
export async function passwordOwner(
  em: EntityManager,
  { id, email }: Pick<Person, 'id' | 'email'>,
): Promise<PasswordOwner> {
  const memberships = (await listMemberships(em, [id])).get(id) ?? [];
  return { email, accountNames: memberships.map(({ accountName }) => accountName) };
}

/** Says that an invitation is not good any more. */
export function expired(): Refusal {
  const message = 'This invitation was used, was replaced by a later one, or is older than a day.';
  return new Refusal('NOT_FOUND', message, { faults: [{ path: '', code: 'invitation.gone', message }] });
}
