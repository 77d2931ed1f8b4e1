import type * as z from 'zod';
import { acceptInvitation, createUser, inviteUser } from '../../../src/commands/people/users.ts';
import type { PageRoute } from '../../../src/console/access/permissions.ts';
import { createConsole } from '../../../src/console/app.ts';
import { createChangeWatch } from '../../../src/console/changes.ts';
import { type ConsoleDeps, definePage, type Page } from '../../../src/console/page.ts';
import { createApiKeys } from '../../../src/crypto/apiKeys.ts';
import { createKnownBrowsers } from '../../../src/crypto/knownBrowsers.ts';
import { createPasswords } from '../../../src/crypto/passwords.ts';
import type { Peppers } from '../../../src/crypto/peppers.ts';
import { createRequestHash } from '../../../src/crypto/requestHash.ts';
import { createTotpSecrets, totpCode } from '../../../src/crypto/totp.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { MemberRole, OperatorRole } from '../../../src/domain/people/people.ts';
import { closeServer, createHttpServer, listen } from '../../../src/http/server.ts';
import { drawSheet } from '../../../src/wiring/provider.ts';
import { keptLog } from '../api/api.ts';
import { idleIssuing } from '../commandDeps.ts';
import { ormAs } from '../database/database.ts';
import { aPepper } from '../database/pepper.ts';
import { aKeyPair } from '../database/sealing.ts';
import { flatHtml } from '../flatHtml.ts';

/** A password that nobody guesses. */
export const PASSWORD = 'cuatro palabras bien largas';
const STEP_MILLISECONDS = 30_000;
/** Hashes that cost next to nothing. */
export const CHEAP = { log2N: 8, r: 8, p: 1 };

/** A page of a test at a path of its own, for those who may have `route`. */
export const pageAt = <
  R extends PageRoute,
  Q extends z.ZodType = z.ZodObject,
  F extends z.ZodType = z.ZodObject,
>(
  path: string,
  page: Parameters<typeof definePage<R, Q, F>>[0],
): Page => ({ ...definePage(page), path });

/** What a page answered. */
export interface Shown {
  status: number;
  headers: Headers;
  /** The Location of a redirect. */
  to: string | null;
  /** HTML as flatHtml gives it. */
  text: string;
}

/** What a form sends; a name with several values occurs several times. */
type Fields = Readonly<Record<string, string | readonly string[] | Buffer>>;

/** A browser without script: it keeps cookies, follows nothing, and sends forms as they stand in the page. */
export interface Browser {
  /** Of the console. */
  url: string;
  cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<Shown>;
  /** Sends a form to `path` with the token of the page at `from`. */
  send(path: string, fields: Fields, from?: string): Promise<Shown>;
  /** Sends it with whatever token, and headers of the sender's own. */
  post(path: string, fields: Fields, headers?: Record<string, string>): Promise<Shown>;
}

/** Somebody who can sign in. */
export interface TestPerson {
  email: string;
  /** Null without a second factor. */
  totp: Buffer | null;
}

export interface TestConsole {
  url: string;
  deps: ConsoleDeps;
  /** The console's own, in its database role. */
  orm: Orm;
  lines: Record<string, unknown>[];
  aBrowser(more?: Record<string, string>): Browser;
  anOperator(role: OperatorRole): Promise<TestPerson>;
  aMember(accountId: string, role: MemberRole): Promise<TestPerson>;
  /** A browser in which that person is signed in, with headers of its own. */
  as(person: TestPerson, more?: Record<string, string>): Promise<Browser>;
  /** The code of a person's app now; each is another, for the clock goes on. */
  codeOf(person: TestPerson): string;
  /** Puts the clock forward. */
  pass(milliseconds: number): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The console in this process on a port of its own, in its database role, with a clock of its own. `deps` are for tests
 * that do what others do, and use the Orm that is given.
 */
export async function startConsole(
  given: Orm,
  more: Partial<Omit<ConsoleDeps, 'orm' | 'clock'>> & {
    trustedProxies?: number;
    /** In place of the console's own. */
    pages?: readonly Page[];
    /** Of the console; one of its own by default. */
    peppers?: Peppers;
  } = {},
): Promise<TestConsole> {
  const { orm, close } = await ormAs(given, 'console');
  const { logger, lines } = keptLog();
  let ahead = 0;
  const clock = (): Date => new Date(Date.now() + ahead);
  const { trustedProxies = 1, pages, peppers = [aPepper()], ...others } = more;
  const changes = createChangeWatch({ orm, logger, pollMilliseconds: 100 });
  const own: ConsoleDeps = {
    orm,
    clock,
    businessClock: clock,
    logger,
    changes,
    sealer: aKeyPair('console').sealer,
    apiKeys: createApiKeys([aPepper()]),
    localReceivers: false,
    requestHash: createRequestHash([aPepper()]),
    certificateAuthorities: 'any',
    testKit: null,
    provider: { rut: '', product: '', version: '1.0.0' },
    drawSheet,
    publicUrl: 'https://cfe.example',
    checkoutUrl: 'https://pay.example',
    ...idleIssuing,
    passwords: createPasswords(CHEAP),
    totpSecrets: createTotpSecrets(peppers),
    knownBrowsers: createKnownBrowsers(peppers),
    askSupport: async () => ({ outcome: 'nothing_to_do', runs: true }),
    askRejected: async () => ({ outcome: 'refused', message: 'Nothing was asked.' }),
    oidc: null,
    consoleUrl: 'http://127.0.0.1',
    temporalUi: null,
    onSignIn: () => undefined,
    ...others,
  };
  const deps = { ...own, orm: given };
  const handle = createConsole({ deps: own, trustedProxies, ...(pages ? { pages } : {}) }).callback();
  const server = createHttpServer((request, response) => void handle(request, response));
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${port}`;
  let people = 0;

  async function joined(email: string): Promise<TestPerson> {
    const { person, invitation } = await inviteUser(deps, { email });
    const totp = person.operatorRole === null ? null : deps.totpSecrets.ofInvitation(invitation.token);
    const code = totp ? totpCode(totp, clock()) : '';
    await acceptInvitation(deps, { token: invitation.token, password: PASSWORD, code });
    return { email: person.email, totp };
  }
  const newEmail = (): string => `persona${(people += 1)}@example.com`;
  const codeOf = ({ totp }: TestPerson): string => {
    // No code is taken twice: the next one is of a later time.
    ahead += STEP_MILLISECONDS;
    return totp ? totpCode(totp, clock()) : '';
  };
  const aBrowser = (headers: Record<string, string> = {}): Browser => browserOn(url, headers);
  return {
    url,
    deps,
    orm,
    lines,
    aBrowser,
    codeOf,
    pass: (milliseconds) => void (ahead += milliseconds),
    async anOperator(operatorRole) {
      const email = newEmail();
      await createUser(deps, { email, operatorRole });
      return joined(email);
    },
    async aMember(accountId, role) {
      const email = newEmail();
      await createUser(deps, { email, accountId, role });
      return joined(email);
    },
    async as(person, headers = {}) {
      const browser = aBrowser(headers);
      await browser.send('/sign-in', { email: person.email, password: PASSWORD });
      if (person.totp) await browser.send('/sign-in/code', { code: codeOf(person) });
      return browser;
    },
    async [Symbol.asyncDispose]() {
      changes.close();
      await closeServer(server, 1_000);
      await close();
    },
  };
}

/** The token that the forms of a page carry. */
export const formTokenIn = (text: string): string =>
  /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? '';

/** A browser without script, at a console's address; each request carries the headers of its own. */
export function browserOn(url: string, own: Record<string, string> = {}): Browser {
  const cookies = new Map<string, string>();
  async function ask(
    path: string,
    init: { method?: string; body?: string | FormData; headers: Record<string, string> },
  ): Promise<Shown> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url + path, {
      ...init,
      redirect: 'manual',
      headers: { ...own, ...init.headers, ...(cookie === '' ? {} : { cookie }) },
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0/.test(set) || value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await response.text();
    const isHtml = response.headers.get('content-type')?.startsWith('text/html') === true;
    return {
      status: response.status,
      headers: response.headers,
      to: response.headers.get('location'),
      text: isHtml ? flatHtml(text) : text,
    };
  }
  const post: Browser['post'] = (path, fields, headers = {}) => {
    const { form_token, ...others } = fields;
    // First, as it stands in every form.
    const all = Object.entries(form_token === undefined ? others : { form_token, ...others });
    // A form that carries a file goes as multipart/form-data, as browsers send it.
    if (all.some(([, value]) => Buffer.isBuffer(value))) {
      const body = new FormData();
      for (const [name, value] of all) {
        if (Buffer.isBuffer(value)) body.append(name, new Blob([new Uint8Array(value)]), `${name}.bin`);
        else for (const one of [value].flat()) body.append(name, one);
      }
      return ask(path, { method: 'POST', body, headers });
    }
    const texts = all.flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    );
    return ask(path, {
      method: 'POST',
      body: new URLSearchParams(texts).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  };
  const get: Browser['get'] = (path, headers = {}) => ask(path, { headers });
  return {
    url,
    cookies,
    get,
    post,
    async send(path, fields, from = '/sign-in/code') {
      const shown = await get(from);
      const page =
        shown.to === null ? shown : await get('/me').then((me) => (me.to === null ? me : get('/sign-in')));
      return post(path, { ...fields, form_token: formTokenIn(page.text) });
    },
  };
}
