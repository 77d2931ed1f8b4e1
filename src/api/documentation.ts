/** The description of the API and a page to read and try it: both without login, from this host alone. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { ERROR_PAGE_STYLE, errorPage } from './errorPage.ts';
import { openApiDocument } from './openapi/document.ts';
import { readExamples } from './openapi/examples.ts';
import type { RequestState } from './requestState.ts';
import type { Route } from './route.ts';

const { resolve } = createRequire(import.meta.url);

/** What the page may load: its own files, and pictures that stand in its style sheet. Answers come from this host. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>CFE API</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** No validator of another host, no document of another host (`?url=`), no key that outlives the page. */
const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
});
`;

/** Files beside the page: their type, and what they hold. */
const FILES: Readonly<Record<string, { readonly type: string; readonly read: () => string | Buffer }>> = {
  'start.js': { type: 'text/javascript', read: () => START },
  'swagger-ui-bundle.js': { type: 'text/javascript', read: () => ofPackage('swagger-ui-bundle.js') },
  'swagger-ui.css': { type: 'text/css', read: () => ofPackage('swagger-ui.css') },
  errors: { type: 'text/html', read: errorPage },
  'errors.css': { type: 'text/css', read: () => ERROR_PAGE_STYLE },
  'favicon-32x32.png': { type: 'image/png', read: () => ofPackage('favicon-32x32.png') },
};

const read = new Map<string, Buffer>();

/** A file of the package, read once. */
function ofPackage(name: string): Buffer {
  const known = read.get(name) ?? readFileSync(resolve(`swagger-ui-dist/${name}`));
  read.set(name, known);
  return known;
}

/** Adds `/openapi.json`, `/docs` and the files of its page below `prefix`; `routes` are those that are described. */
export function serveDocumentation(
  router: Router<RequestState>,
  { prefix, routes }: { prefix: string; routes: readonly Route[] },
): void {
  let document: string | undefined;
  router.get(`${prefix}/openapi.json`, (ctx) => {
    ctx.state.route = `${prefix}/openapi.json`;
    document ??= JSON.stringify(openApiDocument(routes, readExamples()));
    answer(ctx, 'application/json', document);
  });
  router.get(`${prefix}/docs`, (ctx) => {
    ctx.state.route = `${prefix}/docs`;
    ctx.set('Content-Security-Policy', PAGE_POLICY);
    answer(ctx, 'text/html', PAGE);
  });
  for (const [name, file] of Object.entries(FILES)) {
    router.get(`${prefix}/docs/${name}`, (ctx) => {
      ctx.state.route = `${prefix}/docs/${name}`;
      if (file.type === 'text/html') ctx.set('Content-Security-Policy', PAGE_POLICY);
      answer(ctx, file.type, file.read());
    });
  }
}

function answer(ctx: Context, type: string, body: string | Buffer): void {
  ctx.status = 200;
  ctx.type = type;
  ctx.body = body;
}
