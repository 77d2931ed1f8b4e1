/** Idempotency-Key: which routes take it, how it is read, and the first answer again (decisions.md §1). */
import type { IncomingMessage } from 'node:http';
import type { RequestKey } from '../commands/numberCfe.ts';
import { runOnce } from '../commands/runOnce.ts';
import type { RequestHash } from '../crypto/requestHash.ts';
import type { Kept } from '../db/idempotency.ts';
import { invalidInput } from '../errors.ts';
import type { ApiDeps } from './deps.ts';
import type { Route } from './route.ts';

/** The name of the field. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** 1 to 255 printable characters of ASCII. */
const KEY = /^[\x20-\x7e]{1,255}$/;
/** A string of RFC 8941 §3.3.3, as the IETF's draft on the field has it; the text as it stands is taken as well. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

type RouteRequest = Parameters<Route['handle']>[0];

/** Whether a route takes the field: every POST but that of tokens, which makes nothing that could be made twice. */
export function takesIdempotencyKey(route: Pick<Route, 'method' | 'auth'>): boolean {
  return route.method === 'POST' && route.auth === 'token';
}

/**
 * The key of a request with its keyed hash; null without one, and where the route takes none. Refuses a malformed one
 * and two of them (INVALID_INPUT).
 */
export function readRequestKey(
  route: Pick<Route, 'method' | 'auth'>,
  request: Pick<IncomingMessage, 'headersDistinct'>,
  asked: { path: string; body: Uint8Array; hashOf: RequestHash },
): RequestKey | null {
  const texts = request.headersDistinct[IDEMPOTENCY_KEY.toLowerCase()] ?? [];
  const [text] = texts;
  if (!takesIdempotencyKey(route) || text === undefined) return null;
  const key = QUOTED.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') ?? text;
  if (texts.length > 1 || !KEY.test(key)) {
    const message = `${IDEMPOTENCY_KEY} is one text of 1 to 255 printable ASCII characters.`;
    throw invalidInput([{ path: `/headers/${IDEMPOTENCY_KEY}`, code: 'idempotency_key.malformed', message }]);
  }
  const { path, body, hashOf } = asked;
  return { key, hash: hashOf({ method: route.method, path, body }) };
}

/** What is answered: `data` of the handler, or the first answer to the same request again, as JSON. */
export type HandlerAnswer = { readonly data: unknown } | { readonly replayed: string };

/** Runs the handler of `route`; with an Idempotency-Key only once for each key. */
export async function handleOnce(route: Route, request: RouteRequest, deps: ApiDeps): Promise<HandlerAnswer> {
  const { idempotency, caller } = request;
  if (!idempotency) return { data: await route.handle(request, deps) };
  await route.prepare?.(request, deps);
  const { accountId, environment } = caller;
  const outcome = await runOnce(
    deps,
    { accountId, environment, ...idempotency },
    {
      work: (inner) => route.handle(request, inner),
      keep: (data) => (route.firstAnswer ? null : JSON.stringify(data)),
    },
  );
  return outcome.kept ? { replayed: textOf(outcome.kept, route) } : { data: outcome.value };
}

function textOf(kept: Kept, route: Route): string {
  if (kept.kind === 'answer') return kept.answer;
  // The hash covers the path, so a CFE is only ever found for the route that made it.
  if (!route.firstAnswer) throw new Error(`${route.name} cannot answer a CFE again`);
  return JSON.stringify(route.firstAnswer(kept.cfe));
}
