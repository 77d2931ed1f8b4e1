import { Router } from '@koa/router';
import { Refusal } from '../errors.ts';
import { createPlaces } from '../http/places.ts';
import { answerJson } from './answer.ts';
import type { Lookups } from './authenticate.ts';
import type { ApiDeps } from './deps.ts';
import { serveDocumentation } from './documentation.ts';
import { createFailureLimit } from './failedAttempts.ts';
import { serveReceiptPages } from './receiptPages.ts';
import type { RequestState } from './requestState.ts';
import type { Route } from './route.ts';
import { serveRoute } from './serveRoute.ts';

/** The version part of every address (docs/contract.md#versioning). */
const PREFIX = '/v1';

/** The paths of the API and of its description below PREFIX, and /livez and /readyz beside it. `ready` tells whether requests can be served. */
export function createRouter(options: {
  routes: readonly Route[];
  deps: ApiDeps;
  lookups: Lookups;
  ready: () => Promise<boolean>;
  documentsAtStart: boolean;
}): Router<RequestState> {
  const { routes, deps, lookups, ready, documentsAtStart } = options;
  const router = new Router<RequestState>({ sensitive: true, strict: true });

  const failures = createFailureLimit({ deps, lookups });
  const places = createPlaces();
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
