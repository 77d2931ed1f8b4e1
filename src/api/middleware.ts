import { randomUUID } from 'node:crypto';
import type { Router } from '@koa/router';
import type { Middleware } from 'koa';
import { Refusal } from '../errors.ts';
import { callerAddress } from '../http/callerAddress.ts';
import { createProxyNotice } from '../http/proxyNotice.ts';
import type { Logger } from '../logger.ts';
import { answerJson, messageLanguage } from './answer.ts';
import { errorAnswer } from './errorAnswer.ts';
import type { ApiMetrics } from './metrics.ts';
import type { RequestState } from './requestState.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{8,128}$/;

/** Returns the caller's request id if it matches, otherwise a new one. */
function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID();
}

/** Sets the request's id, sent back as X-Request-Id, and the caller's address behind `trustedProxies`. */
export function identifyRequest(trustedProxies: number, logger: Logger): Middleware<RequestState> {
  const notice = createProxyNotice({ trustedProxies, logger });
  return (ctx, next) => {
    notice(ctx.req);
    ctx.state.requestId = requestIdOf(ctx.req.headers['x-request-id']);
    ctx.state.address = callerAddress(ctx.req, trustedProxies);
    ctx.state.route = null;
    ctx.state.accountId = null;
    ctx.state.keyId = null;
    ctx.set('X-Request-Id', ctx.state.requestId);
    return next();
  };
}

/** Health checks, which are not logged: every few seconds their lines would bury the lines of real requests. */
const PROBES = new Set(['/livez', '/readyz']);

/**
 * Writes one log line and one measurement per request. The line has only selected facts: no query, body or
 * header.
 */
export function observeRequests(logger: Logger, metrics: ApiMetrics): Middleware<RequestState> {
  return async (ctx, next) => {
    const startedAt = performance.now();
    try {
      await next();
    } finally {
      const milliseconds = performance.now() - startedAt;
      const { requestId, accountId, keyId, address, route } = ctx.state;
      const { method, status } = ctx;
      metrics.requestDuration.observe(
        { route: route ?? 'none', method: route === null ? 'any' : method, status: String(status) },
        milliseconds / 1000,
      );
      const level = route !== null && PROBES.has(route) ? 'debug' : 'info';
      logger[level](
        {
          requestId,
          accountId,
          keyId,
          address,
          method,
          route,
          status,
          ms: Math.round(milliseconds * 10) / 10,
        },
        'request',
      );
    }
  };
}

/** Headers for responses to one caller: not to be executed, framed, sniffed or cached. */
const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

/** Sets the security headers of every answer. */
export const setSecurityHeaders: Middleware = (ctx, next) => {
  ctx.set(SECURITY_HEADERS);
  return next();
};

/** Headers that scripts of an allowed origin may send and read. */
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
 * Lets pages of `origins` (`https://host`, compared literally) call the API from a browser. Without origins
 * CORS is off, and browsers hide answers from pages of other origins. No cookies are used.
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

/** Turns every error of a request into the error envelope. */
export function answerErrors({
  logger,
  publicUrl,
}: {
  logger: Logger;
  publicUrl: string;
}): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      const { requestId, route } = ctx.state;
      const language = messageLanguage(ctx);
      const { status, headers, body } = errorAnswer(err, { requestId, language, publicUrl });
      if (status >= 500) logger.error({ err, requestId, route, code: body.error.code }, 'request failed');
      ctx.set(headers);
      ctx.vary('Accept-Language');
      answerJson(ctx, status, body);
    }
  };
}

/** Explains an unknown path; also to clients whose base URL lacks /v1. */
const unknownPath = (path: string): string =>
  path.startsWith('/v1/')
    ? 'This path does not exist.'
    : 'This path does not exist; the addresses of the API begin with /v1.';

/**
 * Answers unmatched requests: OPTIONS with the path's methods, another method with 405, another path with 404. A path
 * without parameters comes before one with them (OpenAPI 3.1, Paths Object): GET …/cfes/preview reads no CFE.
 */
export function refuseUnmatched(router: Router<RequestState>): Middleware<RequestState> {
  return (ctx, next) => {
    const layers = router.match(ctx.path, ctx.method).path;
    if (layers.length === 0) throw new Refusal('NOT_FOUND', unknownPath(ctx.path));
    const fewest = Math.min(...layers.map(({ paramNames }) => paramNames.length));
    const best = layers.filter(({ paramNames }) => paramNames.length === fewest);
    const methods = new Set(best.flatMap((layer) => layer.methods));
    if (methods.has(ctx.method)) return next();
    ctx.set('Allow', [...methods, 'OPTIONS'].sort().join(', '));
    if (ctx.method !== 'OPTIONS') {
      throw new Refusal(
        'METHOD_NOT_ALLOWED',
        `This path does not support ${ctx.method}; see the header Allow.`,
      );
    }
    ctx.status = 204;
    return undefined;
  };
}
