/** The console's cookies. With https they have the prefix `__Host-`, which no other host and no http page can set. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type CookieName = 'session' | 'browser' | 'flash' | 'language' | 'oidc' | 'account';

export interface Cookies {
  /** Returns the value, or undefined. */
  get(name: CookieName): string | undefined;
  /** Sets a cookie for `seconds`, else until the browser closes; 0 deletes it. */
  set(name: CookieName, value: string, seconds?: number): void;
}

/** Returns the cookies of one request and its response. `secure`: whether the console is opened by https. */
export function cookiesOf(request: IncomingMessage, response: ServerResponse, secure: boolean): Cookies {
  const fullName = (name: CookieName): string => `${secure ? '__Host-' : ''}cfe_${name}`;
  const sent = new Map(
    (request.headers.cookie ?? '').split(';').map((pair): [string, string] => {
      const [name = '', ...value] = pair.trim().split('=');
      return [name, value.join('=')];
    }),
  );
  const written = new Map<string, string>();
  return {
    get: (name) => sent.get(fullName(name)),
    set(name, value, seconds) {
      const attributes = `${secure ? '; Secure' : ''}${seconds === undefined ? '' : `; Max-Age=${seconds}`}`;
      written.set(name, `${fullName(name)}=${value}; Path=/; HttpOnly; SameSite=Lax${attributes}`);
      response.setHeader('Set-Cookie', [...written.values()]);
    },
  };
}
