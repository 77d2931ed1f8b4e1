/** What a page of the console is: one row of src/console/pages/index.ts, whatever it shows. */

import type { Readable } from 'node:stream';
import * as z from 'zod';
import type { CreateApiKeyDeps } from '../commands/apiKeys.ts';
import type { CredentialsCheckDeps } from '../commands/requestCredentialsCheck.ts';
import type { CommandDeps } from '../commands/steps/deps.ts';
import type { SignInDeps } from '../commands/steps/people.ts';
import type { SupportCfeDeps } from '../commands/supportCfe.ts';
import type { UpdateEnterpriseDeps } from '../commands/updateEnterprise.ts';
import type { WebhookCommandDeps } from '../commands/webhooks.ts';
import type { KnownBrowsers } from '../crypto/knownBrowsers.ts';
import type { LiveSession } from '../db/consoleSessions.ts';
import type { Orm } from '../db/orm.ts';
import { Refusal } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Html } from '../page/html.ts';
import type { Viewer } from './access.ts';
import type { ChangeWatch, Topic } from './changes.ts';
import type { Cookies } from './cookies.ts';
import type { Oidc } from './oidc.ts';
import type { PageRoute } from './permissions.ts';
import type { Language, Texts } from './texts/index.ts';

/** What pages are handed. */
export interface ConsoleDeps
  extends CommandDeps,
    SignInDeps,
    UpdateEnterpriseDeps,
    CredentialsCheckDeps,
    CreateApiKeyDeps,
    WebhookCommandDeps,
    Pick<SupportCfeDeps, 'askSupport' | 'askRejected'> {
  readonly orm: Orm;
  /** The time by which papers end and days are reported; `clock`, by which sessions run, is not moved by tests. */
  readonly businessClock: () => Date;
  readonly knownBrowsers: KnownBrowsers;
  readonly logger: Logger;
  readonly changes: ChangeWatch;
  /** The operator's OpenID provider; null where there is none. */
  readonly oidc: Oidc | null;
  /** Where people reach the console, without a slash at its end. */
  readonly consoleUrl: string;
  /** Where receivers open the pages of their receipts, without a slash at its end. */
  readonly publicUrl: string;
  /** Where operators reach the Temporal UI, and its namespace; null where that is not told. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
  /** Told how each attempt to sign in ended. */
  readonly onSignIn: (outcome: 'done' | 'refused' | 'limited') => void;
}

/** Somebody who is signed in. */
export interface SignedIn {
  readonly session: LiveSession;
  readonly viewer: Viewer;
}

/** What every page knows of its request. */
export interface Visit {
  readonly requestId: string;
  /** The page or form that is asked for; null where there is none. */
  readonly route: PageRoute | null;
  /** The network address that it comes from. */
  readonly address: string;
  readonly browser: string;
  /** With its query. */
  readonly path: string;
  readonly language: Language;
  readonly texts: Texts;
  /** To be put into every form. */
  readonly formToken: string;
  readonly cookies: Cookies;
  /** The token of the browser's session, or the one that stands for it before somebody signs in. */
  readonly webToken: string;
  readonly now: Date;
  readonly signedIn: SignedIn | null;
  /** Signed in, and neither operator nor member of an account: nothing but the pages for anyone is theirs. */
  readonly isNobody: boolean;
  /** A session that lacks its second factor. */
  readonly halfway: LiveSession | null;
  /** What a form did, told once. */
  readonly flash: Flash | null;
  /** Of the query of a page, by name, what is no value of its field, as it was typed. The page is handed the query without it. */
  readonly unread: ReadonlyMap<string, string>;
}

/** What a form says it did, on the page that follows it. */
export interface Flash {
  readonly kind: 'done' | 'failed';
  readonly text: string;
}

export type Answer =
  | {
      readonly kind: 'page';
      readonly title: string;
      readonly body: Html;
      readonly live?: readonly Topic[];
      readonly status?: number;
    }
  | { readonly kind: 'go'; readonly to: string; readonly flash?: Flash }
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly type: string;
      readonly content: string | Buffer | Readable;
      /** Runs once a file that is read while it is sent has its place, before its first byte; what it throws refuses the file. */
      readonly onBegin?: () => Promise<void>;
      /** Of what is read while it is sent, how many bytes that will be, where it is known. */
      readonly length?: number;
    };

/** Shows a page; `live`: what must change for it to be drawn anew. */
export const show = (
  title: string,
  body: Html,
  more: { live?: readonly Topic[]; status?: number } = {},
): Answer => ({
  kind: 'page',
  title,
  body,
  ...more,
});

/** Leads to a path of ours, telling there what was done. */
export const go = (to: string, flash?: Flash): Answer => ({ kind: 'go', to, ...(flash ? { flash } : {}) });

interface Shape<P extends z.ZodType, Q extends z.ZodType, F extends z.ZodType> {
  readonly name: string;
  /** Its row in the table of who may do what. */
  readonly route: PageRoute;
  readonly params: P;
  readonly query: Q;
  /** Of a form, without its token. */
  readonly form: F;
  /** Whether it counts among the forms that a person may send in an hour; forms do unless told. */
  readonly counted?: boolean;
  /** Whether it may take seconds without the database: it holds a place of its account, and none of those that all members share. */
  readonly isSlow?: boolean;
  /** Of a form that carries files: how many bytes it may have in all. Its files reach `form` as bytes. */
  readonly fileBytes?: number;
  handle(
    request: { params: z.output<P>; query: z.output<Q>; form: z.output<F>; visit: Visit },
    deps: ConsoleDeps,
  ): Promise<Answer>;
  /** Of a form: where a refusal is told, in place of a page of its own; `sent`: its fields, whatever they hold. */
  back?(request: { params: z.output<P>; sent: Sent; visit: Visit }): string;
}

/** The fields of a form as they came; a list where one occurs several times. */
export type Sent = Readonly<Record<string, string | string[]>>;

/** A page or a form as the application sees it, whatever it takes. */
export interface Page extends Omit<Shape<z.ZodType, z.ZodType, z.ZodType>, 'handle' | 'back'> {
  readonly method: 'GET' | 'POST';
  /** With `{name}` for each value. */
  readonly path: string;
  handle(
    request: { params: unknown; query: unknown; form: unknown; visit: Visit },
    deps: ConsoleDeps,
  ): Promise<Answer>;
  back?(request: { params: unknown; sent: Sent; visit: Visit }): string;
}

type Optional = 'params' | 'query' | 'form';

/** A page whose `handle` is typed by its schemas; it takes nothing where it names none. */
export function definePage<
  P extends z.ZodType = z.ZodObject,
  Q extends z.ZodType = z.ZodObject,
  F extends z.ZodType = z.ZodObject,
>(page: Omit<Shape<P, Q, F>, Optional> & Partial<Pick<Shape<P, Q, F>, Optional>>): Page {
  const method = page.route.startsWith('POST ') ? 'POST' : 'GET';
  const path = page.route.slice(method.length + 1);
  return { method, path, params: NOTHING, query: NOTHING, form: NOTHING, ...page };
}

const NOTHING = z.object({});

/** A refusal in the words of its reader's language; others are told by their code. */
export class ToldRefusal extends Refusal {}

/** Who is signed in; for pages that are not for anyone. */
export function signedIn({ signedIn: somebody }: Visit): SignedIn {
  if (!somebody) throw new TypeError('a page for those who are signed in was handed a visit of nobody');
  return somebody;
}

/** The page or form that is served; for what runs in no other. */
export function routeOf({ route }: Visit): PageRoute {
  if (route === null) throw new TypeError('a visit of no page was handed to a page');
  return route;
}

/** The command deps of somebody's act: whose it is, and from where. */
export function acting<D extends CommandDeps>(deps: D, visit: Visit): D {
  const { email } = signedIn(visit).session;
  return { ...deps, actor: `console:${email}` as const, origin: { keyId: null, address: visit.address } };
}

/** What is said to who tried too often: when they may again. */
export const limitedWords = ({ retryAfterSeconds = 60 }: Refusal, texts: Texts): string =>
  texts.signIn.limited(Math.ceil(retryAfterSeconds / 60));
