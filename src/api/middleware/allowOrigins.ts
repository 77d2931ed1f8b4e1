import type { Middleware } from 'koa';
import type { RequestState } from '../requestState.ts';

/** What scripts of an allowed origin may send, and read of an answer beside the body. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'Prefer',
  'X-API-Key',
  'X-Request-Id',
  'X-Sandbox-Mode',
];
const ANSWER_HEADERS = [
  'Allow',
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const PREFLIGHT_SECONDS = 600;

/**
 * Lets pages of `origins` (`https://host`, compared as they stand) call the API from a browser; without any, CORS is
 * off and no browser hands an answer to a page of another origin. Cookies play no part.
 */
export function allowOrigins(origins: readonly string[]): Middleware<RequestState> {
  const allowed = new Set(origins);
  return async (ctx, next) => {
    if (allowed.size === 0) return next();
    ctx.vary('Origin');
    const origin = ctx.get('Origin');
    if (!allowed.has(origin)) return next();
    ctx.set('Access-Control-Allow-Origin', origin);
    if (ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method') !== '') {
      ctx.set('Access-Control-Allow-Methods', METHODS.join(', '));
      ctx.set('Access-Control-Allow-Headers', REQUEST_HEADERS.join(', '));
      ctx.set('Access-Control-Max-Age', String(PREFLIGHT_SECONDS));
      ctx.status = 204;
      return undefined;
    }
    ctx.set('Access-Control-Expose-Headers', ANSWER_HEADERS.join(', '));
    return next();
  };
}
