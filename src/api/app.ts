import Koa from 'koa';
import { databaseLookups, type Lookups } from './authenticate.ts';
import type { ApiDeps } from './deps.ts';
import { type ApiMetrics, createMetrics } from './metrics.ts';
import {
  allowOrigins,
  answerErrors,
  identify,
  observe,
  refuseUnmatched,
  securityHeaders,
} from './middleware.ts';
import type { RequestState } from './requestState.ts';
import type { Route } from './route.ts';
import { createRouter } from './router.ts';
import { ROUTES } from './routes/index.ts';

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
