import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Passwords } from '../../crypto/passwords.ts';
import type { TotpSecrets } from '../../crypto/totp.ts';
import { hashOfWebToken, newWebToken } from '../../crypto/webTokens.ts';
import { insertSession } from '../../db/consoleSessions.ts';
import type { Person } from '../../db/entities/Person.ts';
import { insertInvitation } from '../../db/people.ts';
import {
  INVITATION_MILLISECONDS,
  PASSWORD_LENGTH,
  passwordFault,
  type SignInMethod,
} from '../../domain/people.ts';
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
  const token = newWebToken();
  const expiresAt = new Date(now.getTime() + INVITATION_MILLISECONDS);
  await insertInvitation(em, {
    id: randomUUID(),
    personId,
    tokenHash: hashOfWebToken(token),
    createdAt: now,
    expiresAt,
  });
  return { token, expiresAt };
}

const BROWSER_LENGTH = 200;

/** Begins a session with the open transaction; its token is new, whatever the browser had before. */
export async function beginSession(
  em: EntityManager,
  { personId, place, ...how }: { personId: string; place: Place; method: SignInMethod; complete: boolean },
  now: Date,
): Promise<string> {
  const token = newWebToken();
  await insertSession(em, {
    id: randomUUID(),
    tokenHash: hashOfWebToken(token),
    personId,
    ...how,
    address: place.address,
    browser: place.browser.slice(0, BROWSER_LENGTH),
    createdAt: now,
  });
  return token;
}

/** Refuses a password that may not be set (INVALID_INPUT). */
export function checkNewPassword(password: string, { email }: Pick<Person, 'email'>): void {
  const fault = passwordFault(password, email);
  if (fault === undefined) return;
  const message =
    fault === 'length'
      ? `A password has ${PASSWORD_LENGTH.shortest} to ${PASSWORD_LENGTH.longest} characters.`
      : 'This password is too easy to guess: it repeats a few characters or holds your address.';
  throw new Refusal('INVALID_INPUT', message, {
    faults: [{ path: '/password', code: `password.${fault}`, message }],
  });
}
