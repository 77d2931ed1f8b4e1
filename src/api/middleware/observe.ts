import type { Middleware } from 'koa';
import type { Logger } from '../../logger.ts';
import type { ApiMetrics } from '../metrics.ts';
import type { RequestState } from '../requestState.ts';

/** Paths that machines ask every few seconds; their lines would bury the others. */
const PROBES = new Set(['/livez', '/readyz']);

/** One log line and one measurement per request. The line has chosen facts only: no query, body or header. */
export function observe(logger: Logger, metrics: ApiMetrics): Middleware<RequestState> {
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
