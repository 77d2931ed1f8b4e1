/**
 * The definition of a route, the source of the router, the checks, the list of errors and the OpenAPI
 * document. Routes are in `routes/`, in files named like their operation; `routes/index.ts` lists them.
 */
import type * as z from 'zod';
import type { ComparableKey } from '../commands/steps/runOnce.ts';
import type { Enterprise } from '../db/entities/enterprises.ts';
import type { Cfe } from '../db/entities/receipts.ts';
import type { Role } from '../domain/people/roles.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import type { Fault, RefusalCode } from '../errors.ts';
import type { ApiDeps } from './deps.ts';
import type { WaitOptions } from './receipts/verdictWatch.ts';

/** Largest bodies in bytes (docs/contract.md#bodies). */
export const BODY_LIMITS = { cfe: 1024 * 1024, file: 128 * 1024, other: 16 * 1024 } as const;

/** Longest header value matched against a pattern, in characters (docs/contract.md#limits). */
export const LONGEST_FIELD = 256;

/** The authenticated caller. `environment`: the key's, and therefore the request's. */
export interface ApiCaller {
  readonly accountId: string;
  readonly keyId: string;
  readonly environment: Environment;
  readonly isDeveloper: boolean;
}

interface RouteBody<B extends z.ZodType = z.ZodType> {
  /** Strict schema; numbers arrive as JsonNumber (domain/values/decimal.ts). */
  readonly schema: B;
  readonly limitBytes: number;
  /** An empty body counts as `{}`. */
  readonly optional?: true;
  /**
   * `schema` (default): the handler gets the parsed body. `command`: the schema only documents; the handler
   * gets the raw JSON object and must check it, so that faults of shape and of rules are reported together.
   */
  readonly checkedBy?: 'schema' | 'command';
  /** Hints for fields of older layouts, by name. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** The checked input of a handler. */
interface RouteRequest<P = unknown, Q = unknown, B = unknown, R extends Role | null = Role | null> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: ApiCaller;
  /** The enterprise of `{rut}`; null when the route requires no role. */
  readonly enterprise: R extends null ? null : Enterprise;
  /** The caller's role at the enterprise. */
  readonly role: R extends null ? null : Role;
  /** The raw bytes of the body; empty without one. */
  readonly rawBody: Uint8Array;
  readonly requestId: string;
  /** The Idempotency-Key, if one was sent to a route that takes it (idempotency.ts). */
  readonly idempotency: ComparableKey | null;
}

/** A file answer, sent without the envelope; `name` is its ASCII file name. */
export interface FileAnswer {
  readonly bytes: Uint8Array;
  readonly name: string;
  /** SHA-256 of the bytes in hex, for the ETag. */
  readonly sha256: string;
}

type Prepared = Disposable | undefined;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A route, whatever the types of its values. */
export interface Route {
  /** operationId; the stem of its file. */
  readonly name: string;
  readonly method: Method;
  /** Below /v1, with `{name}` for path values: `/enterprises/{rut}/cfes`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** Description in Markdown: everything a caller needs to know beyond the summary. */
  readonly about: string;
  /** `key`: X-API-Key alone; `token`: X-API-Key and Authorization. */
  readonly auth: 'key' | 'token';
  /** Set for a POST that only computes, and so takes no Idempotency-Key. */
  readonly storesNothing?: true;
  /** Whether X-Sandbox-Mode: true is supported. */
  readonly sandbox: boolean;
  /** The least role at the enterprise of `{rut}`; null: no enterprise is loaded. */
  readonly role: Role | null;
  /** A schema for each `{name}` of the path. */
  readonly params: Readonly<Record<string, z.ZodType>>;
  /** Checks several path values together; the paths of faults are `/path/<name>`. */
  checkParams?(params: unknown): readonly Fault[];
  /**
   * Throws NOT_FOUND for a missing resource before the body is read, on routes whose handler looks for the resource only
   * after it has checked the body.
   */
  requireResource?(named: { readonly params: unknown }, deps: ApiDeps): Promise<void>;
  /** Strict schema of the query parameters, which arrive as strings; null allows none. */
  readonly query: z.ZodType | null;
  readonly body: RouteBody | null;
  /** `schema` describes `data`. */
  readonly success: {
    readonly status: 200 | 201 | 202;
    readonly description: string;
    readonly schema: z.ZodType;
  };
  /** Refusals of the handler itself; the definition implies the refusals of earlier checks. */
  readonly errors: readonly RefusalCode[];
  /**
   * Runs before the handler, outside its transaction: may be slow, and has effects that stay if the request is refused. The
   * result is passed to the handler and disposed of afterwards.
   */
  prepare?(request: RouteRequest, deps: ApiDeps): Promise<Prepared>;
  handle(request: RouteRequest, deps: ApiDeps, prepared: unknown): Promise<unknown>;
  /**
   * For file answers with an ETag: creates the file from `data` outside the account's concurrency slots, so that it delays
   * no other call of the account.
   */
  readonly file?: {
    readonly mediaType: string;
    make(request: RouteRequest, data: unknown, deps: ApiDeps): Promise<FileAnswer>;
  };
  /** Returns the query of the next page, sent as `Link: <…>; rel="next"`; null on the last page. */
  nextPage?(request: RouteRequest, data: unknown): Readonly<Record<string, string>> | null;
  /** An alternative without side effects, selected by the query; Idempotency-Key and Prefer are ignored. */
  readonly trial?: {
    isSelected(query: unknown): boolean;
    readonly success: Route['success'];
    handle(request: RouteRequest, deps: ApiDeps): Promise<unknown>;
  };
  /**
   * For handlers that store the Idempotency-Key permanently in the row of the CFE: builds the first answer
   * from that row. Other routes store their answers for 24 hours, unchanged.
   */
  firstAnswer?(cfe: Cfe, deps: ApiDeps): unknown;
  /** For routes that support `Prefer: wait`: waits for the result of the request, and returns the new `data`. */
  waitFor?(request: RouteRequest, data: unknown, waiting: WaitOptions, deps: ApiDeps): Promise<unknown>;
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
    isSelected(query: Q extends z.ZodType ? z.output<Q> : null): boolean;
    readonly success: { readonly status: 200; readonly description: string; readonly schema: T };
    handle(request: TypedRequest<P, Q, C, B, R>, deps: ApiDeps): Promise<z.input<T>>;
  };
  firstAnswer?(cfe: Cfe, deps: ApiDeps): z.input<D>;
  waitFor?(
    request: TypedRequest<P, Q, C, B, R>,
    data: z.input<D>,
    waiting: WaitOptions,
    deps: ApiDeps,
  ): Promise<z.input<D>>;
}

/** The input of a handler, typed by the schemas of its route. */
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
 * Defines a route with a typed handler, which returns `data` or throws a Refusal. Without `checkedBy:
 * 'command'` the body is the schema's output (undefined without one). Omitted members default to off.
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
