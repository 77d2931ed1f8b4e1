/**
 * What a route is: one definition from which the router, the checks, the list of errors and the OpenAPI document
 * come. One file per route in `routes/`, named like its operation; `routes/index.ts` lists them.
 */
import type * as z from 'zod';
import type { ComparableKey } from '../commands/steps/runOnce.ts';
import type { Enterprise } from '../db/entities/enterprises.ts';
import type { Cfe } from '../db/entities/receipts.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import type { Role } from '../domain/roles.ts';
import type { Fault, RefusalCode } from '../errors.ts';
import type { ApiDeps } from './deps.ts';
import type { Waiting } from './verdictWatch.ts';

/** Largest bodies in bytes (docs/contract.md#bodies). */
export const BODY_LIMITS = { cfe: 1024 * 1024, file: 128 * 1024, other: 16 * 1024 } as const;

/** Fields of the header that are read by a pattern count only up to so many characters (docs/contract.md#limits). */
export const LONGEST_FIELD = 256;

/** Who calls, after key, token and sandbox rules held. `environment` is that of the key, and so of the request. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly environment: Environment;
  readonly isDeveloper: boolean;
}

/** A body that a route takes. */
interface RouteBody<B extends z.ZodType = z.ZodType> {
  /** Strict schema; numbers reach it as JsonNumber (domain/decimal.ts). */
  readonly schema: B;
  readonly limitBytes: number;
  /** An empty body counts as `{}`. */
  readonly optional?: true;
  /**
   * `schema` (default): the handler gets what the schema made of the body. `command`: the schema only documents; the
   * handler gets the JSON object as read and must check it, so that faults of shape and of rules are reported together.
   */
  readonly checkedBy?: 'schema' | 'command';
  /** Advice on fields of older layouts, by name. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** What a handler gets; everything in it was checked. */
interface RouteRequest<P = unknown, Q = unknown, B = unknown, R extends Role | null = Role | null> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  /** The enterprise of `{rut}`; null where the route asks for no role. */
  readonly enterprise: R extends null ? null : Enterprise;
  /** The caller's role for it. */
  readonly role: R extends null ? null : Role;
  /** The body byte for byte; empty without one. */
  readonly rawBody: Uint8Array;
  readonly requestId: string;
  /** The Idempotency-Key, where one was sent to a route that takes it (idempotency.ts). */
  readonly idempotency: ComparableKey | null;
}

/** A file as it is answered, outside the envelope; `name` is what it is saved as, in ASCII. */
export interface FileAnswer {
  readonly bytes: Uint8Array;
  readonly name: string;
  /** Of the bytes, in hex; for the ETag. */
  readonly sha256: string;
}

/** What a route may prepare for its handler. */
type Prepared = Disposable | undefined;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A route as the application sees it, whatever its values are. */
export interface Route {
  /** operationId; the stem of its file. */
  readonly name: string;
  readonly method: Method;
  /** Below /v1, with `{name}` for path values: `/enterprises/{rut}/cfes`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** What it does, in words (Markdown): what a caller needs to know beyond the summary. */
  readonly about: string;
  /** `key`: X-API-Key alone; `token`: X-API-Key and Authorization. */
  readonly auth: 'key' | 'token';
  /** Whether X-Sandbox-Mode: true is supported. */
  readonly sandbox: boolean;
  /** The least role at the enterprise of `{rut}`; null: no enterprise is looked up. */
  readonly role: Role | null;
  /** A schema for each `{name}` of the path. */
  readonly params: Readonly<Record<string, z.ZodType>>;
  /** Checks of several path values together; the paths of its faults are `/path/<name>`. */
  checkParams?(params: unknown): readonly Fault[];
  /**
   * Refuses a resource below the enterprise that is not there (NOT_FOUND), before the body is read: a route needs it
   * where the handler would come to that only after judging the body.
   */
  requireResource?(named: { readonly params: unknown }, deps: ApiDeps): Promise<void>;
  /** Strict schema of the query parameters, which arrive as strings; null where there are none. */
  readonly query: z.ZodType | null;
  readonly body: RouteBody | null;
  /** `schema` describes `data`. */
  readonly success: {
    readonly status: 200 | 201 | 202;
    readonly description: string;
    readonly schema: z.ZodType;
  };
  /** Refusals of the handler itself; those of the checks before it follow from the definition. */
  readonly errors: readonly RefusalCode[];
  /**
   * What comes before the handler and outside its transaction: it may take long, and stays if the request is refused.
   * What it gives is the handler's, and is disposed of after it.
   */
  prepare?(request: RouteRequest, deps: ApiDeps): Promise<Prepared>;
  handle(request: RouteRequest, deps: ApiDeps, prepared: unknown): Promise<unknown>;
  /**
   * Where the answer is a file, with an ETag, and no JSON. It is made of `data` outside of the account's places: however
   * long it takes, no other call of the account waits for it.
   */
  readonly file?: {
    readonly mediaType: string;
    make(request: RouteRequest, data: unknown, deps: ApiDeps): Promise<FileAnswer>;
  };
  /** The query of the next page, sent as `Link: <…>; rel="next"`; null on the last page. */
  nextPage?(request: RouteRequest, data: unknown): Readonly<Record<string, string>> | null;
  /**
   * What the address does instead where the query asks for it, and which changes nothing: Idempotency-Key and Prefer
   * count for nothing then.
   */
  readonly trial?: {
    asked(query: unknown): boolean;
    readonly success: Route['success'];
    handle(request: RouteRequest, deps: ApiDeps): Promise<unknown>;
  };
  /**
   * Where the handler keeps the Idempotency-Key on the row of the CFE that it creates, for ever: the first answer, from
   * that row. Answers of other routes are kept for 24 hours, word for word.
   */
  firstAnswer?(cfe: Cfe, deps: ApiDeps): unknown;
  /** Where `Prefer: wait` is supported: waits for what `data` started, and answers its state then. */
  waitFor?(request: RouteRequest, data: unknown, waiting: Waiting, deps: ApiDeps): Promise<unknown>;
}

type Values<P> = { readonly [K in keyof P]: P[K] extends z.ZodType ? z.output<P[K]> : never };

interface Definition<
  P extends Readonly<Record<string, z.ZodType>>,
  Q extends z.ZodType | null,
  C extends 'schema' | 'command',
  B extends z.ZodType,
  D extends z.ZodType,
  R extends Role | null,
  W extends Prepared,
  T extends z.ZodType,
> extends Omit<
    Route,
    | 'sandbox'
    | 'params'
    | 'checkParams'
    | 'requireResource'
    | 'query'
    | 'body'
    | 'success'
    | 'errors'
    | 'role'
    | 'prepare'
    | 'handle'
    | 'file'
    | 'nextPage'
    | 'trial'
    | 'firstAnswer'
    | 'waitFor'
  > {
  readonly sandbox?: true;
  readonly role: R;
  readonly params?: P;
  checkParams?(params: Values<P>): readonly Fault[];
  requireResource?(named: { readonly params: Values<P> }, deps: ApiDeps): Promise<void>;
  readonly query?: Q;
  readonly body?: Omit<RouteBody<B>, 'checkedBy'> & { readonly checkedBy?: C };
  readonly success: { readonly status: 200 | 201 | 202; readonly description: string; readonly schema: D };
  readonly errors?: readonly RefusalCode[];
  prepare?(request: TypedRequest<P, Q, C, B, R>, deps: ApiDeps): Promise<W>;
  handle(request: TypedRequest<P, Q, C, B, R>, deps: ApiDeps, prepared: W): Promise<z.input<D>>;
  readonly file?: {
    readonly mediaType: string;
    make(request: TypedRequest<P, Q, C, B, R>, data: z.input<D>, deps: ApiDeps): Promise<FileAnswer>;
  };
  nextPage?(request: TypedRequest<P, Q, C, B, R>, data: z.input<D>): Readonly<Record<string, string>> | null;
  readonly trial?: {
    asked(query: Q extends z.ZodType ? z.output<Q> : null): boolean;
    readonly success: { readonly status: 200; readonly description: string; readonly schema: T };
    handle(request: TypedRequest<P, Q, C, B, R>, deps: ApiDeps): Promise<z.input<T>>;
  };
  firstAnswer?(cfe: Cfe, deps: ApiDeps): z.input<D>;
  waitFor?(
    request: TypedRequest<P, Q, C, B, R>,
    data: z.input<D>,
    waiting: Waiting,
    deps: ApiDeps,
  ): Promise<z.input<D>>;
}

/** What a handler gets by the schemas of its route. */
type TypedRequest<
  P,
  Q extends z.ZodType | null,
  C extends 'schema' | 'command',
  B extends z.ZodType,
  R extends Role | null,
> = RouteRequest<
  Values<P>,
  Q extends z.ZodType ? z.output<Q> : null,
  'command' extends C ? Readonly<Record<string, unknown>> : z.output<B>,
  R
>;

/**
 * A route, with its handler typed by its schemas. The handler answers `data`; it refuses by throwing a Refusal.
 * Without `checkedBy: 'command'` its body is what the schema gives (undefined where there is none). What a route does not
 * say it does not have: the sandbox, values in its path, query, body, refusals of its own.
 */
export function defineRoute<
  D extends z.ZodType,
  const R extends Role | null,
  const P extends Readonly<Record<string, z.ZodType>> = Readonly<Record<string, never>>,
  Q extends z.ZodType | null = null,
  B extends z.ZodType = z.ZodUndefined,
  const C extends 'schema' | 'command' = 'schema',
  W extends Prepared = undefined,
  T extends z.ZodType = z.ZodNever,
>(definition: Definition<P, Q, C, B, D, R, W, T>): Route {
  return { sandbox: false, params: {}, query: null, body: null, errors: [], ...definition };
}
