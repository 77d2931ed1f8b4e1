/** The API's description, a page to try the API, and the guides: without login and without other hosts. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { CODE_VARIANTS, GUIDE_LANGUAGES, SLUGS } from '../handbook/guides.ts';
import {
  createSearch,
  type GuideVisit,
  guidePage,
  indexPage,
  notFoundPage,
  type Search,
} from '../handbook/site.ts';
import { ownFilesPolicy } from '../page/html.ts';
import { openApiDocument } from './openapi/document.ts';
import { readExamples } from './openapi/examples.ts';
import { referenceParts } from './openapi/referenceParts.ts';
import { queryValue } from './query.ts';
import type { RequestState } from './requestState.ts';
import type { Route } from './route.ts';

const { resolve } = createRequire(import.meta.url);

/** The page to try the API loads only this host's files and embedded pictures, and calls only this host. */
const PAGE_POLICY = ownFilesPolicy('none');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>CFE API</title>
<link rel="icon" href="favicon-32x32.png">
<link rel="stylesheet" href="swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="swagger-ui-bundle.js"></script>
<script src="start.js"></script>
</body>
</html>
`;

/** The guides load a style sheet and a picture, and have one form, the search. */
const GUIDE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const MOST_SEARCHED = 100;

/** Starts the page without validators or documents (`?url=`) of other hosts, and forgets keys with the page. */
const START = `SwaggerUIBundle({
  url: '../openapi.json',
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

/** Files of the page, with their type and contents. */
const FILES: Readonly<Record<string, { readonly type: string; readonly read: () => string | Buffer }>> = {
  'start.js': { type: 'text/javascript', read: () => START },
  'swagger-ui-bundle.js': { type: 'text/javascript', read: () => readPackageFile('swagger-ui-bundle.js') },
  'swagger-ui.css': { type: 'text/css', read: () => readPackageFile('swagger-ui.css') },
  'handbook.css': {
    type: 'text/css',
    read: () => readFileSync(new URL('../handbook/handbook.css', import.meta.url)),
  },
  'favicon-32x32.png': { type: 'image/png', read: () => readPackageFile('favicon-32x32.png') },
};

const packageFiles = new Map<string, Buffer>();

/** Returns a file of swagger-ui, read at the first call. */
function readPackageFile(name: string): Buffer {
  const bytes = packageFiles.get(name) ?? readFileSync(resolve(`swagger-ui-dist/${name}`));
  packageFiles.set(name, bytes);
  return bytes;
}

/** Serves `/openapi.json`, `/docs` and their files below `prefix`, describing `routes`. */
export function serveDocumentation(
  router: Router<RequestState>,
  { prefix, routes, atStart }: { prefix: string; routes: readonly Route[]; atStart: boolean },
): void {
  const document = once(() => openApiDocument(routes, readExamples()));
  const description = once(() => Buffer.from(JSON.stringify(document())));
  router.get(`${prefix}/openapi.json`, (ctx) => {
    ctx.state.route = `${prefix}/openapi.json`;
    answer(ctx, 'application/json', description());
  });
  const search = once(() => createSearch(referenceParts(document())));
  if (atStart) {
    description();
    for (const language of GUIDE_LANGUAGES)
      search()({ base: prefix, language, code: CODE_VARIANTS[0] }, 'cfe');
  }
  const show = serveGuidePages(router, `${prefix}/docs`);
  serveGuides(show, search);
  router.get(`${prefix}/docs/reference`, (ctx) => {
    ctx.state.route = `${prefix}/docs/reference`;
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
  // Last, because the first match answers.
  show('/{*rest}', (visit, ctx) => {
    ctx.status = 404;
    return notFoundPage(visit);
  });
}

/** Runs `make` at the first call and caches its result. */
function once<T extends {}>(make: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= make());
}

type Show = (path: string, make: (visit: GuideVisit, ctx: Context) => string) => void;

/** Serves pages of the guides below `base`, in the language of the path or of the browser. */
function serveGuidePages(router: Router<RequestState>, base: string): Show {
  return (path, make) => {
    router.get(`${base}${path}`, (ctx) => {
      ctx.state.route = `${base}${path}`;
      const [, chosen] = ctx.path.slice(base.length).split('/');
      const language =
        GUIDE_LANGUAGES.find((one) => one === chosen) ??
        (ctx.acceptsLanguages(...GUIDE_LANGUAGES) || GUIDE_LANGUAGES[0]);
      const variant = queryValue(ctx.querystring, 'code');
      const code = CODE_VARIANTS.find((one) => one === variant) ?? CODE_VARIANTS[0];
      ctx.set('Content-Security-Policy', GUIDE_POLICY);
      ctx.vary('Accept-Language');
      answer(ctx, 'text/html', make({ base, language: language as GuideVisit['language'], code }, ctx));
    });
  };
}

/** Serves `/docs` in the browser's language, and each guide and the search below each language. */
function serveGuides(show: Show, search: () => Search): void {
  show('', indexPage);
  for (const slug of SLUGS) show(`/${slug}`, (visit) => guidePage(visit, slug));
  for (const language of GUIDE_LANGUAGES) {
    show(`/${language}`, indexPage);
    show(`/${language}/search`, (visit, ctx) =>
      search()(visit, (queryValue(ctx.querystring, 'q') ?? '').slice(0, MOST_SEARCHED)),
    );
    for (const slug of SLUGS) show(`/${language}/${slug}`, (visit) => guidePage(visit, slug));
  }
}

function answer(ctx: Context, type: string, body: string | Buffer): void {
  ctx.type = type;
  ctx.body = body;
}
