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
  identify,
  observe,
  refuseUnmatched,
  securityHeaders,
} from './middleware.ts';
import { serveReceiptPages } from './receiptPages.ts';
import type { RequestState } from './requestState.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes/index.ts';
import { serveRoute } from './serveRoute.ts';

export interface AppOptions {
  readonly deps: ApiDeps;
  /** Whether requests can be served; asked by /readyz. */
  readonly ready: () => Promise<boolean>;
  readonly metrics?: ApiMetrics;
  readonly routes?: readonly Route[];
  readonly lookups?: Lookups;
  /** Origins whose pages may call the API from a browser; none unless told. */
  readonly corsOrigins?: readonly string[];
  /** Makes the description and the search of the guides now: the first to ask would hold up everybody for some 0.2 s. */
  readonly documentsAtStart?: boolean;
  /** How many proxies stand between callers and this process; none unless told. */
  readonly trustedProxies?: number;
}

/** The HTTP application: what every request passes, in this order. A route's own checks stand in serveRoute.ts. */
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

  app.use(identify(trustedProxies, logger));
  app.use(observe(logger, metrics));
  app.use(securityHeaders);
  app.use(allowOrigins(corsOrigins));
  app.use(answerErrors(logger));
  app.use(router.routes());
  app.use(refuseUnmatched(router));

  // What goes wrong after the middleware: an answer that cannot be written, because the client is gone.
  app.on('error', (err: unknown) => logger.warn({ err }, 'answer not written'));
  return app;
}

/** The version part of every address (docs/contract.md#versioning). */
const PREFIX = '/v1';

/** The paths of the API and of its description below PREFIX, and /livez and /readyz beside it. `ready` tells whether requests can be served. */
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
  const places = createConcurrencySlots();
  for (const route of routes) {
    const serve = serveRoute(route, { deps, lookups, failures, places });
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
