/** The refusals of each route; its definition decides which refusals the checks before its handler add. */
import { REFUSAL_CODES, type RefusalCode } from '../../errors.ts';
import { STATUS_OF } from '../errorAnswer.ts';
import { takesIdempotencyKey } from '../idempotency.ts';
import type { Route } from '../route.ts';

/** The meaning of each refusal, in words. */
export const REFUSAL_MEANINGS: Readonly<Record<RefusalCode, string>> = {
  INVALID_INPUT: 'The request is malformed or breaks a rule; `details.fields` lists every fault.',
  ALREADY_EXISTS: 'It already exists; an enterprise may have been registered by another account.',
  INVALID_API_KEY: 'The API key is missing, unknown or revoked, or does not match `X-Sandbox-Mode`.',
  UNAUTHORIZED:
    'The API key or the access token is missing, invalid or expired, or they do not belong together.',
  FORBIDDEN:
    'The caller is authenticated but may not do this: no role or too low a role at the enterprise, a sandbox key without `X-Sandbox-Mode: true` or on a production-only endpoint, or the sandbox without `is_developer`.',
  NOT_FOUND: 'It does not exist. `GET /enterprises` lists the enterprises of the caller.',
  METHOD_NOT_ALLOWED: 'The path does not support this method; the header Allow lists those it supports.',
  REQUEST_TIMEOUT:
    'The request did not arrive within 30 seconds, or its headers within 15; the connection is closed. Send it again.',
  PAYLOAD_TOO_LARGE: 'The body is larger than this endpoint accepts.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not application/json in UTF-8.',
  HEADERS_TOO_LARGE: 'The headers of the request exceed 16 KiB in total; the connection is closed.',
  NOT_SENT_YET:
    'The CFE, or the report of the day, has not been sent to the tax authority yet. `Retry-After` says when to ask again; without that header, the CFE will never be sent.',
  IDEMPOTENCY_IN_PROGRESS:
    'A request with the same Idempotency-Key is still in progress; `Retry-After` says when to ask again.',
  IDEMPOTENCY_KEY_REUSED:
    'The Idempotency-Key was used for another request that was accepted, even if the tax authority has rejected that CFE since. `details.cfe_id` and `details.enterprise_rut` name the CFE issued with the key, `details.fields` the path of the first difference. Read that CFE before anything else; this request was not carried out.',
  RATE_LIMITED:
    'The rate limit is reached, a login was checked too often, a receipt was sent by e-mail too often, or too many requests from this address failed to authenticate; `Retry-After` says when to continue.',
  INTERNAL_ERROR: 'An error on our side; the message contains the request id.',
  UNAVAILABLE:
    'Something that the request needs is unavailable right now; `Retry-After` says when to try again.',
};

/** Returns every code that `route` can answer, by HTTP status in ascending order. */
export function refusalsOf(route: Route): [status: number, codes: RefusalCode[]][] {
  const codes = new Set<RefusalCode>([
    // For a malformed X-Sandbox-Mode header, or an unknown query parameter.
    'INVALID_INPUT',
    route.auth === 'key' ? 'INVALID_API_KEY' : 'UNAUTHORIZED',
    // For a key of the other environment, the sandbox without is_developer, or a missing role.
    'FORBIDDEN',
    ...(route.role === null ? [] : (['NOT_FOUND'] as const)),
    ...(route.body ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(takesIdempotencyKey(route) ? (['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'] as const) : []),
    // From the server in front of all routes (src/http/server.ts).
    'REQUEST_TIMEOUT',
    'HEADERS_TOO_LARGE',
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
