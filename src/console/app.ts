import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Router } from '@koa/router';
import Koa from 'koa';
import type { Histogram } from 'prom-client';
import { isDatabaseOutage } from '../db/orm.ts';
import { Refusal } from '../errors.ts';
import { callerAddress } from '../http/callerAddress.ts';
import { createProxyNotice } from '../http/proxyNotice.ts';
import { ownFilesPolicy } from '../page/html.ts';
import { createGuards } from './access/guards.ts';
import { serveChanges } from './changesRoute.ts';
import type { ConsoleDeps, Page } from './page.ts';
import { PAGES } from './pages/index.ts';
import { type ConsoleState, type Ctx, readVisit, type ServeDeps, servePage, showRefusal } from './serve.ts';

const { resolve } = createRequire(import.meta.url);
const ownFile = (name: string): URL => new URL(`files/${name}`, import.meta.url);

/** Files that pages load. */
const FILES: Readonly<Record<string, { readonly type: string; readonly from: () => string | URL }>> = {
  'console.css': { type: 'text/css', from: () => ownFile('console.css') },
  'console.js': { type: 'text/javascript', from: () => ownFile('console.js') },
  'icon.svg': { type: 'image/svg+xml', from: () => ownFile('icon.svg') },
  'htmx.js': { type: 'text/javascript', from: () => resolve('htmx.org/dist/htmx.min.js') },
  'idiomorph.js': { type: 'text/javascript', from: () => resolve('idiomorph/dist/idiomorph-ext.min.js') },
};

interface StaticFile {
  readonly type: string;
  readonly content: Buffer;
  readonly etag: string;
}

const filesRead = new Map<string, StaticFile>();

/** Returns a file, read from disk once; null for an unknown name. */
function readStaticFile(name: string): StaticFile | null {
  const source = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (!source) return null;
  const known = filesRead.get(name);
  if (known) return known;
  const content = readFileSync(source.from());
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  const file = { type: source.type, content, etag };
  filesRead.set(name, file);
  return file;
}

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': ownFilesPolicy('self'),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

interface ConsoleOptions {
  readonly deps: ConsoleDeps;
  /** Number of proxies between browsers and this process; default 0. */
  readonly trustedProxies?: number;
  /** Measures the seconds from request to response, by page. */
  readonly requestDuration?: Histogram<'page' | 'method' | 'status'>;
  readonly pages?: readonly Page[];
}

/** Creates the console's HTTP application. */
export function createConsole({ deps, trustedProxies = 0, requestDuration, pages = PAGES }: ConsoleOptions) {
  const app = new Koa<ConsoleState>();
  const secure = deps.consoleUrl.startsWith('https:');
  const serveDeps: ServeDeps = { deps, guards: createGuards() };
  const noticeProxy = createProxyNotice({ trustedProxies, logger: deps.logger });

  app.use(async (ctx: Ctx, next) => {
    const startedAt = performance.now();
    noticeProxy(ctx.req);
    Object.assign(ctx.state, {
      requestId: randomUUID(),
      address: callerAddress(ctx.req, trustedProxies),
      page: null,
      email: null,
    });
    ctx.set(HEADERS);
    if (secure) ctx.set('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
    ctx.set('X-Request-Id', ctx.state.requestId);
    try {
      await next();
    } finally {
      const milliseconds = performance.now() - startedAt;
      const { requestId, address, page, email } = ctx.state;
      const { method, status } = ctx;
      requestDuration?.observe(
        { page: page ?? 'none', method: page === null ? 'any' : method, status: String(status) },
        milliseconds / 1_000,
      );
      deps.logger.info(
        { requestId, person: email, address, method, page, status, ms: Math.round(milliseconds * 10) / 10 },
        'request',
      );
    }
  });
  app.use(async (ctx: Ctx, next) => {
    try {
      await next();
    } catch (err) {
      const refusal = refusalFor(err);
      if (refusal.code === 'INTERNAL_ERROR')
        deps.logger.error({ err, requestId: ctx.state.requestId, page: ctx.state.page }, 'request failed');
      showRefusal(ctx, refusal, deps);
    }
  });
  const router = createRouter(pages, serveDeps);
  app.use(router.routes());
  app.use(async (ctx: Ctx) => {
    ctx.state.visit = await readVisit(ctx, serveDeps);
    throw new Refusal('NOT_FOUND', '404');
  });
  app.on('error', (err: unknown) => deps.logger.warn({ err }, 'answer not written'));
  return app;
}

function createRouter(pages: readonly Page[], serveDeps: ServeDeps): Router<ConsoleState> {
  const router = new Router<ConsoleState>({ sensitive: true, strict: true });
  router.get('/files/:name', (ctx) => {
    ctx.state.page = 'files';
    const file = readStaticFile(ctx.params['name'] ?? '');
    if (!file) throw new Refusal('NOT_FOUND', '404');
    ctx.set({ 'Cache-Control': 'no-cache', ETag: file.etag });
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
    else Object.assign(ctx, { type: file.type, body: file.content });
  });
  router.get('/changes', (ctx) => {
    ctx.state.page = 'changes';
    return serveChanges(ctx, serveDeps);
  });
  for (const page of pages) {
    router.register(page.path.replace(/\{(\w+)\}/g, ':$1'), [page.method], (ctx) => {
      ctx.state.page = page.name;
      return servePage(page, ctx, serveDeps);
    });
  }
  return router;
}

function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (isDatabaseOutage(error)) {
    const message = 'The database cannot be reached.';
    return new Refusal('UNAVAILABLE', message, {
      faults: [{ path: '', code: 'database.away', message }],
      retryAfterSeconds: 5,
      cause: error,
    });
  }
  return new Refusal('INTERNAL_ERROR', 'INTERNAL_ERROR', { cause: error });
}
