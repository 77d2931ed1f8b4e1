import { Router } from '@koa/router';
import Koa from 'koa';
import { Refusal } from '../errors.ts';
import { createConcurrencySlots } from '../http/concurrencySlots.ts';
import { answerJson } from './answer.ts';
import { databaseLookups, type Lookups } from './authenticate.ts';
import type { ApiDeps } from './deps.ts';
import { serveDocumentation } from './documentation.ts';
import { createFailureLimit } from './failedAttempts.ts';
import { type ApiMetrics, createMetrics } from './metrics.ts';
import {
  allowOrigins,
  answerErrors,
  identifyRequest,
  observeRequests,
  refuseUnmatched,
  setSecurityHeaders,
} from './middleware.ts';
import { serveReceiptPages } from './receipts/receiptPages.ts';
import type { RequestState } from './requestState.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes/index.ts';
import { serveRoute } from './serveRoute.ts';

export interface AppOptions {
  readonly deps: ApiDeps;
  /** Whether requests can be served; used by /readyz. */
  readonly ready: () => Promise<boolean>;
  readonly metrics?: ApiMetrics;
  readonly routes?: readonly Route[];
  readonly lookups?: Lookups;
  /** Origins whose pages may call the API from a browser; none by default. */
  readonly corsOrigins?: readonly string[];
  /**
   * Builds the description and the guides' search at start: otherwise the first reader delays all requests by
   * some 0.2 s.
   */
  readonly documentsAtStart?: boolean;
  /** The number of proxies between callers and this process; none by default. */
  readonly trustedProxies?: number;
}

/** Creates the HTTP application. A route's own checks are in serveRoute.ts. */
export function createApp({
  deps,
  ready,
  metrics = createMetrics(),
  routes = ROUTES,
  lookups = databaseLookups(deps),
  corsOrigins = [],
  trustedProxies = 0,
  documentsAtStart = false,
}: AppOptions) {
  const { logger } = deps;
  const app = new Koa<RequestState>();
  const router = createRouter({ routes, deps, lookups, ready, documentsAtStart });

  app.use(identifyRequest(trustedProxies, logger));
  app.use(observeRequests(logger, metrics));
  app.use(setSecurityHeaders);
  app.use(allowOrigins(corsOrigins));
  app.use(answerErrors(deps));
  app.use(refuseUnmatched(router));
  app.use(router.routes());

  // Handles errors after the middleware: the client disconnected while the answer was written.
  app.on('error', (err: unknown) => logger.warn({ err }, 'answer not written'));
  return app;
}

/** The version part of every URL (docs/contract.md#versioning). */
const PREFIX = '/v1';

/** Routes the API and its description below PREFIX, and /livez and /readyz beside it. */
function createRouter(options: {
  routes: readonly Route[];
  deps: ApiDeps;
  lookups: Lookups;
  ready: () => Promise<boolean>;
  documentsAtStart: boolean;
}): Router<RequestState> {
  const { routes, deps, lookups, ready, documentsAtStart } = options;
  const router = new Router<RequestState>({ sensitive: true, strict: true });

  const failures = createFailureLimit({ deps, lookups });
  const slots = createConcurrencySlots();
  for (const route of routes) {
    const serve = serveRoute(route, { deps, lookups, failures, places: slots });
    const template = PREFIX + route.path;
    router.register(template.replace(/\{(\w+)\}/g, ':$1'), [route.method], (ctx) => {
      ctx.state.route = template;
      return serve(ctx, ctx.params);
    });
  }

  serveReceiptPages(router, { deps, failures });
  serveDocumentation(router, { prefix: PREFIX, routes, atStart: documentsAtStart });

  router.get('/livez', (ctx) => {
    ctx.state.route = '/livez';
    answerJson(ctx, 200, { data: { status: 'ok' } });
  });
  router.get('/readyz', async (ctx) => {
    ctx.state.route = '/readyz';
    if (!(await ready()))
      throw new Refusal('UNAVAILABLE', 'The service is not ready yet.', { retryAfterSeconds: 1 });
    answerJson(ctx, 200, { data: { status: 'ok' } });
  });
  return router;
}
