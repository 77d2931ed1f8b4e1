/** Sends requests until there is an answer: tokens, time-outs and retries. */
import { CfeRefused, CfeUnanswered } from './errors.ts';
import { readJson, writeJson } from './json.ts';
import type { ErrorCode, Fault } from './types.ts';

/** Longer than the longest `Prefer: wait`. */
const ATTEMPT_MILLISECONDS = 45_000;
const FIRST_PAUSE_MILLISECONDS = 500;
const LONGEST_PAUSE_MILLISECONDS = 30_000;
/** Renews a token after this part of its lifetime. */
const RENEWED_AT = 0.9;
/** Errors worth a retry after a wait; most say how long by Retry-After. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const PASSING_CONFLICTS: ReadonlySet<string> = new Set(['IDEMPOTENCY_IN_PROGRESS', 'NOT_SENT_YET']);

/** The result of a DELETE that an attempt with a lost answer carried out. */
const DELETED: Reply = { status: 200, headers: new Headers(), content: { data: true } };

/** Settings of every call. */
export interface TransportOptions {
  /** With `/v1`. */
  baseUrl: string;
  apiKey: string;
  isSandbox: boolean;
  language: 'en' | 'es';
  /** How long a call may take with all its attempts, in seconds. */
  patienceSeconds: number;
  fetch: typeof fetch;
}

export interface Call {
  method: string;
  /** Below the base address, with its query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  /** Of a POST. */
  idempotencyKey?: string;
  /** Whether the request is for the sandbox, which few operations have. */
  inSandbox?: boolean;
  signal?: AbortSignal | undefined;
}

/** The body of an answer: parsed JSON, or the bytes of a file. */
export interface Reply {
  status: number;
  headers: Headers;
  content: unknown;
}

export interface Transport {
  /**
   * Retries until there is an answer. Throws CfeRefused if nothing was changed for certain, CfeUnanswered if something may
   * have been, and the reason of `signal` if nothing was sent yet or the call only reads.
   */
  ask(call: Call): Promise<Reply>;
}

export function createTransport(options: TransportOptions): Transport {
  const { apiKey, isSandbox, patienceSeconds } = options;
  let token: Promise<string> | undefined;
  let tokenEnds = 0;

  async function newToken(deadline: number): Promise<string> {
    const { content } = await untilAnswered(
      { method: 'POST', path: '/tokens', body: {}, inSandbox: isSandbox },
      deadline,
      async () => '',
    );
    const { access_token: text, expires_in: seconds } = (
      content as { data: { access_token: string; expires_in: number } }
    ).data;
    tokenEnds = Date.now() + seconds * 1_000 * RENEWED_AT;
    return text;
  }

  /** Shares one token among all calls; calls wait while it is fetched. */
  function currentToken(deadline: number): Promise<string> {
    if (!token || tokenEnds <= Date.now()) {
      tokenEnds = Number.POSITIVE_INFINITY;
      token = newToken(deadline);
      token.catch(() => {
        token = undefined;
      });
    }
    return token;
  }

  async function untilAnswered(
    call: Call,
    deadline: number,
    login: (deadline: number) => Promise<string>,
  ): Promise<Reply> {
    let refusedToken = '';
    let mayHaveHappened = false;
    try {
      for (let attempt = 0; ; attempt += 1) {
        const mine = await login(deadline);
        const headers = { 'X-API-Key': apiKey, ...(mine ? { Authorization: `Bearer ${mine}` } : {}) };
        call.signal?.throwIfAborted();
        const outcome = await once(options, call, headers, deadline);
        if ('reply' in outcome) return outcome.reply;
        const { error, pauseSeconds } = outcome;
        const isGone = error instanceof CfeRefused && error.code === 'NOT_FOUND';
        if (isGone && call.method === 'DELETE' && mayHaveHappened) return DELETED;
        mayHaveHappened ||= changes(call) && isOpen(error);
        call.signal?.throwIfAborted();
        if (mine && !refusedToken && error instanceof CfeRefused && error.code === 'UNAUTHORIZED') {
          refusedToken = mine;
          // Unless another call has renewed it meanwhile.
          if ((await token) === mine) tokenEnds = 0;
          continue;
        }
        const pause = (pauseSeconds ?? backoff(attempt)) * 1_000;
        if (pauseSeconds === undefined && !isPassing(error)) throw error;
        if (Date.now() + pause >= deadline) throw error;
        await passed(pause, call.signal);
      }
    } catch (error) {
      throw endOf(call, error, mayHaveHappened);
    }
  }

  return {
    ask: (call) => untilAnswered(call, Date.now() + patienceSeconds * 1_000, currentToken),
  };
}

type Outcome = { reply: Reply } | { error: CfeRefused | CfeUnanswered; pauseSeconds?: number | undefined };

/** One attempt. `pauseSeconds`: how long the API asks to wait before another. */
async function once(
  { baseUrl, language, fetch }: TransportOptions,
  { method, path, headers, body, idempotencyKey, inSandbox, signal }: Call,
  login: Record<string, string>,
  deadline: number,
): Promise<Outcome> {
  // Outside of `try`: a request that cannot be built throws its own error.
  const request = {
    method,
    headers: new Headers({
      ...login,
      'Accept-Language': language,
      ...(inSandbox ? { 'X-Sandbox-Mode': 'true' } : {}),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    }),
    ...(body === undefined ? {} : { body: writeJson(body) }),
    redirect: 'error' as const,
  };
  const patience = AbortSignal.timeout(Math.max(1, Math.min(ATTEMPT_MILLISECONDS, deadline - Date.now())));
  const unanswered = (what: string, cause: unknown): Outcome => ({
    error: new CfeUnanswered(`${method} ${path} was ${what}`, idempotencyKey, cause),
  });
  let response: Response;
  let content: unknown;
  try {
    response = await fetch(baseUrl + path, {
      ...request,
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const isJson = response.headers.get('Content-Type')?.startsWith('application/json') ?? false;
    content = isJson ? readJson(new TextDecoder().decode(bytes)) : bytes;
  } catch (cause) {
    return unanswered(`not answered by ${new URL(baseUrl).host}${reasonOf(cause)}`, cause);
  }
  const { ok, status } = response;
  if (ok && isAnswer(method, content)) return { reply: { status, headers: response.headers, content } };
  // A proxy answered instead of the API.
  return (
    refusalIn(response, content, idempotencyKey) ?? unanswered(`answered ${status} by something else`, null)
  );
}

/** Returns the innermost reason of a failed fetch, such as `connect ECONNREFUSED 127.0.0.1:3000`. */
function reasonOf(cause: unknown): string {
  let reason = '';
  for (let at = cause; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    reason = at.message || (typeof code === 'string' ? code : reason);
  }
  return reason === '' ? '' : `: ${reason}`;
}

/** Returns whether this is an answer of the API: only reads return files, all others have `data`. */
const isAnswer = (method: string, content: unknown): boolean =>
  content instanceof Uint8Array
    ? method === 'GET'
    : typeof content === 'object' && content !== null && 'data' in content;

function refusalIn(
  { ok, status, headers }: Response,
  content: unknown,
  idempotencyKey: string | undefined,
): Outcome | null {
  const { error } = (content ?? {}) as {
    error?: {
      code?: unknown;
      message: string;
      details?: { fields?: readonly Fault[]; enterprise_rut?: string; cfe_id?: string };
    };
  };
  if (ok || typeof error?.code !== 'string') return null;
  const after = Number(headers.get('Retry-After') ?? Number.NaN);
  const retryAfterSeconds = after >= 0 ? after : undefined;
  const { fields = [], enterprise_rut: rut, cfe_id: cfeId } = error.details ?? {};
  const refusal = {
    code: error.code as ErrorCode,
    message: error.message,
    status,
    faults: fields,
    requestId: headers.get('X-Request-Id'),
    retryAfterSeconds,
    madeByKey: rut !== undefined && cfeId !== undefined ? { rut, cfeId } : undefined,
  };
  const mayPass = PASSING.has(status) || PASSING_CONFLICTS.has(refusal.code);
  return {
    error: new CfeRefused(refusal, idempotencyKey),
    ...(mayPass ? { pauseSeconds: retryAfterSeconds } : {}),
  };
}

const isPassing = (error: Error): boolean =>
  error instanceof CfeUnanswered || (error instanceof CfeRefused && PASSING.has(error.status));

/** Returns whether a call can change anything; only the POST of tokens has no key. */
const changes = ({ method, idempotencyKey }: Call): boolean =>
  method === 'POST' ? idempotencyKey !== undefined : method !== 'GET';

/** Returns whether an attempt with this result may have been carried out, or still be; a 5xx also leaves that open. */
const isOpen = (error: CfeRefused | CfeUnanswered): boolean =>
  error instanceof CfeUnanswered || error.status >= 500 || error.code === 'IDEMPOTENCY_IN_PROGRESS';

/**
 * Returns the error of a call. Once an attempt may have been carried out, later refusals do not exclude it: the API checks
 * token, role and limit before the key, and an attempt in progress has no result yet.
 */
function endOf({ method, path, idempotencyKey }: Call, error: unknown, mayHaveHappened: boolean): unknown {
  // The key belongs to another request: this one was not accepted, and never will be.
  const isOfAnother = error instanceof CfeRefused && error.code === 'IDEMPOTENCY_KEY_REUSED';
  if (mayHaveHappened && !isOfAnother) {
    if (error instanceof CfeUnanswered && error.idempotencyKey === idempotencyKey) return error;
    const last = error instanceof Error ? error.message : String(error);
    return new CfeUnanswered(`${method} ${path} may have been done; then: ${last}`, idempotencyKey, error);
  }
  // Requests for the token, which many calls share, have no key.
  if (error instanceof CfeRefused) return new CfeRefused(error, idempotencyKey);
  return error instanceof CfeUnanswered ? new CfeUnanswered(error.message, idempotencyKey, error) : error;
}

/** Returns the seconds to wait, randomised to prevent many callers from retrying together. */
const backoff = (attempt: number): number =>
  (Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** attempt, LONGEST_PAUSE_MILLISECONDS) *
    (0.5 + Math.random() / 2)) /
  1_000;

/** Resolves after the time; rejects with the reason of `signal` if that comes first. */
export function passed(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
