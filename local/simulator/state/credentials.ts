import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import type { State } from './database.ts';

/** What a company may do with its login at the authority. */
export type Permission = 'HOMO' | 'PROD';

/** A company's login as set through the portal; a username or password that is left out may be anything. */
export interface Login {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly permissions: readonly Permission[];
}

const hashOf = (password: string, salt: string): string =>
  scryptSync(password, salt, 32, { N: 1024 }).toString('base64');

/** Stores a company's login; of the password only a salted hash. */
export function putLogin(state: State, rut: string, login: Login): void {
  const salt = randomBytes(16).toString('base64');
  state
    .prepare(
      `insert into credentials values (?, ?, ?, ?, ?) on conflict do update set username = excluded.username,
       salt = excluded.salt, password_hash = excluded.password_hash, permissions = excluded.permissions`,
    )
    .run(
      rut,
      login.username ?? null,
      salt,
      login.password === undefined ? null : hashOf(login.password, salt),
      JSON.stringify(login.permissions),
    );
}

/** The permissions of a login, or null when the company or its login is not known. */
export function checkLogin(
  state: State,
  rut: string,
  username: string,
  password: string,
): readonly Permission[] | null {
  const row = state.prepare('select * from credentials where rut = ?').get(rut);
  if (!row) return null;
  if (row['username'] !== null && row['username'] !== username) return null;
  if (row['password_hash'] !== null) {
    const held = Buffer.from(String(row['password_hash']), 'base64');
    if (!timingSafeEqual(held, Buffer.from(hashOf(password, String(row['salt'])), 'base64'))) return null;
  }
  return JSON.parse(String(row['permissions'])) as Permission[];
}
