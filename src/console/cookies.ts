/** The cookies of the console. With https they carry the prefix `__Host-`, which no other host and no plain connection can set. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * What is kept in a browser: the session, that somebody signed in here before, what a form did, the language, a sign-in under way,
 * the account that was looked at.
 */
export type CookieName = 'session' | 'browser' | 'flash' | 'language' | 'oidc' | 'account';

export interface Cookies {
  /** The value, or undefined where there is none. */
  get(name: CookieName): string | undefined;
  /** Sets a cookie; without `seconds` it goes with the browser's window, with 0 at once. */
  set(name: CookieName, value: string, seconds?: number): void;
}

/** The cookies of one request and its answer. `secure`: the console is reached by https. */
export function cookiesOf(request: IncomingMessage, response: ServerResponse, secure: boolean): Cookies {
  const full = (name: CookieName): string => `${secure ? '__Host-' : ''}cfe_${name}`;
  const sent = new Map(
    (request.headers.cookie ?? '').split(';').map((pair): [string, string] => {
      const [name = '', ...value] = pair.trim().split('=');
      return [name, value.join('=')];
    }),
  );
  const written = new Map<string, string>();
  return {
    get: (name) => sent.get(full(name)),
    set(name, value, seconds) {
      const age = seconds === undefined ? '' : `; Max-Age=${seconds}`;
      written.set(
        name,
        `${full(name)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}${age}`,
      );
      response.setHeader('Set-Cookie', [...written.values()]);
    },
  };
}
