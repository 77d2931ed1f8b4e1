/**
 * Idempotency-Key: routes that take it, reading it, and repeating the first answer
 * (docs/contract.md#idempotency).
 */
import type { IncomingMessage } from 'node:http';
import { comparableKey, IDEMPOTENCY_KEY_TEXT } from '../commands/steps/comparableKey.ts';
import {
  type ComparableKey,
  findFirstAnswer,
  type OnceRequest,
  runOnce,
  runStoringKey,
} from '../commands/steps/runOnce.ts';
import type { RequestHash } from '../crypto/requestHash.ts';
import type { KeptResult } from '../db/people/idempotency.ts';
import type { RequestRule } from '../domain/requests/requestRules.ts';
import { invalidInput } from '../errors.ts';
import type { ApiDeps } from './deps.ts';
import type { Route } from './route.ts';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** A quoted key (a string of RFC 8941 §3.3.3), as the IETF draft requires; unquoted keys are accepted too. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

type RouteRequest = Parameters<Route['handle']>[0];

/** Returns whether a route takes the header: every POST, except for tokens and for routes that store nothing. */
export function takesIdempotencyKey(route: Pick<Route, 'method' | 'auth' | 'storesNothing'>): boolean {
  return route.method === 'POST' && route.auth === 'token' && !route.storesNothing;
}

/**
 * Returns the key of a request with the keyed hash of its content (`json`: the body as `readJson` reads it); null without a
 * key, and for routes that take none. Throws INVALID_INPUT for a malformed or repeated header.
 */
export function readRequestKey(
  route: Pick<Route, 'method' | 'auth' | 'storesNothing'>,
  request: Pick<IncomingMessage, 'headersDistinct'>,
  content: { path: string; json: unknown; hashOf: RequestHash },
): ComparableKey | null {
  const texts = request.headersDistinct[IDEMPOTENCY_KEY.toLowerCase()] ?? [];
  const [text] = texts;
  if (!takesIdempotencyKey(route) || text === undefined) return null;
  const key = QUOTED.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') ?? text;
  if (texts.length > 1 || !IDEMPOTENCY_KEY_TEXT.test(key)) {
    const message = `${IDEMPOTENCY_KEY} must be one string of 1 to 255 printable ASCII characters.`;
    const code: RequestRule = 'idempotency_key.malformed';
    throw invalidInput([{ path: `/headers/${IDEMPOTENCY_KEY}`, code, message }]);
  }
  return comparableKey(key, { method: route.method, ...content });
}

/** The handler's `data`, or the first answer to the same request as JSON. */
export type HandlerAnswer = { readonly data: unknown } | { readonly replayed: string };

/** Runs the route's `prepare` and handler; once per Idempotency-Key. */
export async function handleOnce(route: Route, request: RouteRequest, deps: ApiDeps): Promise<HandlerAnswer> {
  const { idempotency, caller } = request;
  const once = idempotency && {
    accountId: caller.accountId,
    environment: caller.environment,
    ...idempotency,
  };
  if (!once) return { data: await prepareAndHandle(route, request, deps) };
  const outcome = route.firstAnswer
    ? await runStoringKey(deps, once, () => prepareAndHandle(route, request, deps))
    : await handleInTransaction(route, request, once, deps);
  return outcome.kept ? { replayed: answerTextOf(outcome.kept, route, deps) } : { data: outcome.value };
}

async function prepareAndHandle(route: Route, request: RouteRequest, deps: ApiDeps): Promise<unknown> {
  using prepared = await route.prepare?.(request, deps);
  return await route.handle(request, deps, prepared);
}

/** Skips the slow `prepare` when the answer is already stored; runOnce checks again, because of concurrent requests. */
async function handleInTransaction(route: Route, request: RouteRequest, once: OnceRequest, deps: ApiDeps) {
  const kept = route.prepare ? await findFirstAnswer(deps, once) : null;
  if (kept) return { kept };
  using prepared = await route.prepare?.(request, deps);
  return await runOnce(deps, once, {
    work: (inner) => route.handle(request, inner, prepared),
    keep: (data) => JSON.stringify(data),
  });
}

function answerTextOf(kept: KeptResult, route: Route, deps: ApiDeps): string {
  if (kept.kind === 'answer') return kept.answer;
  // The hash covers the path, so only the route that issued a CFE finds it.
  if (!route.firstAnswer) throw new Error(`${route.name} cannot answer a CFE again`);
  return JSON.stringify(route.firstAnswer(kept.cfe, deps));
}
