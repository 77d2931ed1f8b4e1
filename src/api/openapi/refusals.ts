/** Which refusals a route can answer: those of the checks before its handler follow from its definition. */
import { REFUSAL_CODES, type RefusalCode } from '../../errors.ts';
import { STATUS_OF } from '../errorAnswer.ts';
import { takesIdempotencyKey } from '../idempotency.ts';
import type { Route } from '../route.ts';

/** When each refusal is answered, in words. */
export const WORDS: Readonly<Record<RefusalCode, string>> = {
  INVALID_INPUT: 'The request is malformed or breaks a rule; `details.fields` lists every fault.',
  ALREADY_EXISTS: 'It is there already.',
  INVALID_API_KEY: 'The API key is missing, unknown, revoked, or of the other environment.',
  UNAUTHORIZED: 'API key or access token is missing, invalid or has ended, or they do not belong together.',
  FORBIDDEN:
    'The caller is known but may not do this: a foreign enterprise, a role too low, the wrong environment.',
  NOT_FOUND: 'It does not exist.',
  METHOD_NOT_ALLOWED: 'The path does not take this method; the header Allow lists those it takes.',
  PAYLOAD_TOO_LARGE: 'The body is larger than this endpoint takes.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not application/json in UTF-8.',
  IDEMPOTENCY_IN_PROGRESS: 'A request with the same Idempotency-Key is still being worked on.',
  IDEMPOTENCY_KEY_REUSED: 'The Idempotency-Key was used before with another body.',
  RATE_LIMITED:
    'The hourly limit is reached, or too many requests of this address failed to authenticate; `Retry-After` tells when to go on.',
  INTERNAL_ERROR: 'A fault of ours; the message names the request id.',
  UNAVAILABLE: 'Something that is needed cannot be reached now; `Retry-After` tells when to try again.',
};

/** Every code that `route` can answer, by HTTP status in ascending order. */
export function refusalsOf(route: Route): [status: number, codes: RefusalCode[]][] {
  const codes = new Set<RefusalCode>([
    // A header X-Sandbox-Mode that does not fit, a query parameter that nobody knows.
    'INVALID_INPUT',
    route.auth === 'key' ? 'INVALID_API_KEY' : 'UNAUTHORIZED',
    // The key's environment, the sandbox without is_developer, the role.
    'FORBIDDEN',
    ...(route.role === null ? [] : (['NOT_FOUND'] as const)),
    ...(route.body ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(takesIdempotencyKey(route) ? (['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'] as const) : []),
    'RATE_LIMITED',
    'INTERNAL_ERROR',
    'UNAVAILABLE',
    ...route.errors,
  ]);
  const byStatus = Map.groupBy(
    REFUSAL_CODES.filter((code) => codes.has(code)),
    (code) => STATUS_OF[code],
  );
  return [...byStatus].sort(([a], [b]) => a - b);
}
