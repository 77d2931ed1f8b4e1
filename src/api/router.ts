import { Router } from '@koa/router';
import type { Context } from 'koa';
import { Refusal } from '../errors.ts';
import { createAccountPlaces } from './accountPlaces.ts';
import { answerJson } from './answer.ts';
import type { ApiDeps } from './deps.ts';
import { serveDocumentation } from './documentation.ts';
import { createFailureLimit } from './failedAttempts.ts';
import type { Lookups } from './lookups.ts';
import { serveReceiptPages } from './receiptPages.ts';
import type { RequestState } from './requestState.ts';
import type { Route } from './route.ts';
import { serveRoute } from './serveRoute.ts';

/** The version part of every address (docs/contract.md#versioning). */
const PREFIX = '/v1';

/** When the two older addresses were declared so, in seconds since 1970 (2026-11-22). */
const DEPRECATED_SINCE = 1_795_305_600;

/** Says on every answer that its address is an older one (RFC 9745); the description says which one to use. */
function tellDeprecation(ctx: Context): void {
  ctx.set('Deprecation', `@${DEPRECATED_SINCE}`);
  ctx.append('Link', `<${PREFIX}/docs>; rel="deprecation"; type="text/html"`);
}

/** The paths of the API and of its description below PREFIX, and /livez and /readyz beside it. `ready` tells whether requests can be served. */
export function createRouter(options: {
  routes: readonly Route[];
  deps: ApiDeps;
  lookups: Lookups;
  ready: () => Promise<boolean>;
}): Router<RequestState> {
  const { routes, deps, lookups, ready } = options;
  const router = new Router<RequestState>({ sensitive: true, strict: true });

  const failures = createFailureLimit({ deps, lookups });
  const places = createAccountPlaces();
  for (const route of routes) {
    const serve = serveRoute(route, { deps, lookups, failures, places });
    const template = PREFIX + route.path;
    router.register(template.replace(/\{(\w+)\}/g, ':$1'), [route.method], (ctx) => {
      ctx.state.route = template;
      if (route.deprecatedFor !== undefined) tellDeprecation(ctx);
      return serve(ctx, ctx.params);
    });
  }

  serveReceiptPages(router, { deps, failures });
  serveDocumentation(router, { prefix: PREFIX, routes });

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
