/** The console's cookies. With https they have the prefix `__Host-`, which no other host and no http page can set. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The session, a past sign-in, the message of a form, the language, an OpenID sign-in in progress, the last account. */
export type CookieName = 'session' | 'browser' | 'flash' | 'language' | 'oidc' | 'account';

export interface Cookies {
  /** Returns the value, or undefined. */
  get(name: CookieName): string | undefined;
  /** Sets a cookie. Without `seconds` it is deleted when the browser closes; with 0, immediately. */
  set(name: CookieName, value: string, seconds?: number): void;
}

/** Returns the cookies of one request and its response. `secure`: people open the console by https. */
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
