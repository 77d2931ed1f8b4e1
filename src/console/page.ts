/** Defines pages of the console. */

import type { Readable } from 'node:stream';
import * as z from 'zod';
import type { EquipSandboxDeps } from '../commands/enterprises/equipSandbox.ts';
import type { CredentialsCheckDeps } from '../commands/enterprises/requestCredentialsCheck.ts';
import type { UpdateEnterpriseDeps } from '../commands/enterprises/updateEnterprise.ts';
import type { SupportCfeDeps } from '../commands/operations/supportCfe.ts';
import type { CreateApiKeyDeps } from '../commands/people/apiKeys.ts';
import type { IssueDeps } from '../commands/receipts/issueCfe.ts';
import type { CommandDeps } from '../commands/steps/deps.ts';
import type { SignInDeps } from '../commands/steps/people.ts';
import type { WebhookCommandDeps } from '../commands/webhooks/webhooks.ts';
import type { KnownBrowsers } from '../crypto/knownBrowsers.ts';
import { isWebToken } from '../crypto/webTokens.ts';
import type { Orm } from '../db/orm.ts';
import type { LiveSession } from '../db/people/consoleSessions.ts';
import type { DrawSheet, SoftwareProvider } from '../domain/enterprises/application.ts';
import { ENVIRONMENTS } from '../domain/receipts/cfeTypes.ts';
import { dateSchema } from '../domain/values/dates.ts';
import { Rut } from '../domain/values/rut.ts';
import { Refusal } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Html } from '../page/html.ts';
import type { Language, Texts } from '../words/console.ts';
import type { Viewer } from './access/access.ts';
import type { Cookies } from './access/cookies.ts';
import type { Oidc } from './access/oidc.ts';
import type { PageRoute } from './access/permissions.ts';
import type { ChangeWatch, Topic } from './changes.ts';

/** Dependencies of pages. */
export interface ConsoleDeps
  extends
    IssueDeps,
    SignInDeps,
    UpdateEnterpriseDeps,
    CredentialsCheckDeps,
    CreateApiKeyDeps,
    WebhookCommandDeps,
    EquipSandboxDeps,
    Pick<SupportCfeDeps, 'askSupport' | 'askRejected'> {
  readonly orm: Orm;
  readonly outbox: IssueDeps['outbox'];
  /** Clock of expiry dates and reported days, which tests may move; `clock` is for sessions. */
  readonly businessClock: () => Date;
  readonly knownBrowsers: KnownBrowsers;
  readonly logger: Logger;
  readonly changes: ChangeWatch;
  /** The operator's OpenID provider; null if not configured. */
  readonly oidc: Oidc | null;
  /** Base URL of the console, without a final slash. */
  readonly consoleUrl: string;
  /** Base URL of the receivers' pages, without a final slash. */
  readonly publicUrl: string;
  /** The operator of the service, as in its declarations. */
  readonly provider: SoftwareProvider;
  /** Draws the application sheet (postulación) as a PDF. */
  readonly drawSheet: DrawSheet;
  /** URL and namespace of the Temporal UI; null if not configured. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
  /** Receives the outcome of each sign-in attempt. */
  readonly onSignIn: (outcome: 'done' | 'refused' | 'limited') => void;
}

export interface SignedIn {
  readonly session: LiveSession;
  readonly viewer: Viewer;
}

/** What a page knows of its request. */
export interface Visit {
  readonly requestId: string;
  /** The requested page or form; null if unknown. */
  readonly route: PageRoute | null;
  /** Network address of the caller. */
  readonly address: string;
  readonly browser: string;
  /** Path and query. */
  readonly path: string;
  readonly language: Language;
  readonly texts: Texts;
  /** CSRF token; every form must contain it. */
  readonly formToken: string;
  readonly cookies: Cookies;
  /** Token of the session; before sign-in, of the browser. */
  readonly webToken: string;
  readonly now: Date;
  readonly signedIn: SignedIn | null;
  /** Whether a signed-in person is neither operator nor member of an account: only the pages for anyone are open. */
  readonly hasNoRole: boolean;
  /** Session before its second factor was checked. */
  readonly pendingSession: LiveSession | null;
  /** Message of a form, shown once. */
  readonly flash: Flash | null;
  /** Invalid parameters of the query, by name, as typed. The page's query omits them. */
  readonly invalidQuery: ReadonlyMap<string, string>;
}

/** Message of a form, on the page after it. */
export interface Flash {
  readonly kind: 'done' | 'failed';
  readonly text: string;
  /** Faults of a form by field, with the form's id. */
  readonly at?: FormFaults | undefined;
}

interface FormFaults {
  readonly form: string;
  readonly faults: Readonly<Record<string, string>>;
}

export type Answer =
  | {
      readonly kind: 'page';
      readonly title: string;
      readonly body: Html;
      readonly live?: readonly Topic[];
      readonly status?: number;
    }
  | { readonly kind: 'redirect'; readonly to: string; readonly flash?: Flash }
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly type: string;
      readonly content: string | Buffer | Readable;
      /** Runs once a streamed file has its slot, before its first byte; an error prevents the download. */
      readonly onBegin?: () => Promise<void>;
      /** Bytes of a streamed file, if known. */
      readonly length?: number;
    };

/** Returns a page; changes of the topics in `live` reload it. */
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

/** Returns a redirect to a path of the console, with a message to show there. */
export const redirect = (to: string, flash?: Flash): Answer => ({
  kind: 'redirect',
  to,
  ...(flash ? { flash } : {}),
});

/** Schemas of path parameters by name; a page may replace some. */
const PATH_PARAMS = {
  id: z.uuid(),
  person: z.uuid(),
  mail_id: z.uuid(),
  rut: Rut,
  branch: z.string().regex(/^\d{1,4}$/),
  environment: z.enum(ENVIRONMENTS),
  date: dateSchema(),
  cfe_id: z.string().max(40),
  token: z.string().refine(isWebToken),
} as const;

type NamesIn<R extends string> = R extends `${string}{${infer N}}${infer More}` ? N | NamesIn<More> : never;
/** Path parameters of a route. */
export type ParamsOf<R extends string> = {
  readonly [N in NamesIn<R> & keyof typeof PATH_PARAMS]: z.output<(typeof PATH_PARAMS)[N]>;
};

/** Schemas that replace those of PATH_PARAMS on one page. */
export type ParamSchemas<R extends string> = { readonly [N in keyof ParamsOf<R>]?: z.ZodType<string> };

interface Shape<R extends PageRoute, Q extends z.ZodType, F extends z.ZodType> {
  readonly name: string;
  /** Key of the table of permissions. */
  readonly route: R;
  readonly params: z.ZodType<ParamsOf<R>>;
  readonly query: Q;
  /** Schema of a form's fields, without its token. */
  readonly form: F;
  /** Whether a request counts towards the person's rate limit; default: only forms. */
  readonly counted?: boolean;
  /** Whether a request may wait seconds for something other than the database. It takes no slot shared by members. */
  readonly isSlow?: boolean;
  /** Limit of bytes of a form with files; `form` gets each file as bytes. */
  readonly fileBytes?: number;
  handle(
    request: { params: ParamsOf<R>; query: z.output<Q>; form: z.output<F>; visit: Visit },
    deps: ConsoleDeps,
  ): Promise<Answer>;
  /** Returns the page that shows a form's error; default: an error page. `sent` contains the unchecked fields. */
  back?(request: { params: ParamsOf<R>; sent: Sent; visit: Visit }): string;
}

/** Unchecked fields of a form; a list if a field occurs several times. */
export type Sent = Readonly<Record<string, string | string[]>>;

/** A page or form, without the types of its input. */
export interface Page extends Omit<Shape<PageRoute, z.ZodType, z.ZodType>, 'handle' | 'back' | 'params'> {
  readonly params: z.ZodType;
  readonly method: 'GET' | 'POST';
  /** Path with `{name}` for each parameter. */
  readonly path: string;
  handle(
    request: { params: unknown; query: unknown; form: unknown; visit: Visit },
    deps: ConsoleDeps,
  ): Promise<Answer>;
  back?(request: { params: unknown; sent: Sent; visit: Visit }): string;
}

/** Defines a page. Without `query` or `form` it accepts no query or no fields. */
export function definePage<
  R extends PageRoute,
  Q extends z.ZodType = z.ZodObject,
  F extends z.ZodType = z.ZodObject,
>(
  page: Omit<Shape<R, Q, F>, 'params' | 'query' | 'form'> &
    Partial<Pick<Shape<R, Q, F>, 'query' | 'form'>> & { readonly params?: ParamSchemas<R> },
): Page {
  const method = page.route.startsWith('POST ') ? 'POST' : 'GET';
  const path = page.route.slice(method.length + 1);
  const schemas: Readonly<Record<string, z.ZodType>> = { ...PATH_PARAMS, ...page.params };
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const params = z.object(Object.fromEntries(names.map((name) => [name, schemas[name] ?? z.string()])));
  return { method, path, query: NOTHING, form: NOTHING, ...page, params };
}

const NOTHING = z.object({});

/** An error with a message in the reader's language; other errors are translated by their code. */
export class LocalizedRefusal extends Refusal {}

/** An error in the reader's language, with faults at the fields of a form. */
export class FieldRefusal extends LocalizedRefusal {
  readonly at: FormFaults;

  constructor(cause: Refusal, message: string, at: FormFaults) {
    super(cause.code, message, { cause });
    this.at = at;
  }
}

/** Returns the signed-in person of a page that requires a session. */
export function signedIn({ signedIn: person }: Visit): SignedIn {
  if (!person) throw new TypeError('a page that requires a session got a visit without one');
  return person;
}

export function routeOf({ route }: Visit): PageRoute {
  if (route === null) throw new TypeError('a page got a visit without a route');
  return route;
}

/** Adds the signed-in person and their network address to a command's dependencies. */
export function withActor<D extends CommandDeps>(deps: D, visit: Visit): D {
  const { email } = signedIn(visit).session;
  return { ...deps, actor: `console:${email}` as const, origin: { keyId: null, address: visit.address } };
}

/** Describes when the next attempt is possible. */
export const describeRateLimit = ({ retryAfterSeconds = 60 }: Refusal, texts: Texts): string =>
  texts.signIn.limited(Math.ceil(retryAfterSeconds / 60));

/** Parses JSON that a browser sent back; returns `otherwise` if it does not match the schema. */
export function readSentJson<T>(schema: z.ZodType<T>, json: string, otherwise: T): T {
  try {
    return schema.parse(JSON.parse(json));
  } catch {
    return otherwise;
  }
}
