/** The frame around every page. */

import { type Html, html } from '../page/html.ts';
import type { Topic } from './changes.ts';
import { link } from './links.ts';
import type { Visit } from './page.ts';
import { button, form } from './parts.ts';
import { LANGUAGES, TEXTS } from './texts/index.ts';

const NAVIGATION = [['health', '/']] as const;

/** htmx is told to run no code from texts, to write no style of its own, to ask nobody else and to keep no pages. */
const HTMX = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
});

/** A whole page. `live`: its main part is drawn anew when one of these changes. */
export function layout(visit: Visit, page: { title: string; body: Html; live?: readonly Topic[] }): string {
  const { texts, language, signedIn, path, flash } = visit;
  const live =
    signedIn && page.live
      ? html` data-changes="${link('/changes', { of: page.live.join(',') })}" hx-get="${path}" hx-trigger="changed" hx-select="#main" hx-swap="morph:outerHTML" hx-ext="morph"`
      : html``;
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="htmx-config" content="${HTMX}">
<title>${page.title} · ${texts.console}</title>
<link rel="icon" href="/files/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/files/console.css">
<script src="/files/htmx.js" defer></script>
<script src="/files/idiomorph.js" defer></script>
<script src="/files/console.js" defer></script>
</head>
<body>
<a class="skip" href="#main">${texts.skip}</a>
<header class="top">
<a class="brand" href="/">${texts.console}</a>
${signedIn && navigation(visit)}
<div class="tools">
${languages(visit)}
${signedIn && html`<a href="/me" title="${texts.account}">${signedIn.session.email}</a>${form(visit, '/sign-out', button(texts.signOut, 'quiet'), 'inline')}`}
</div>
</header>
<main id="main" tabindex="-1"${live}>
${flash && html`<p class="flash ${flash.kind}" role="status">${flash.text}</p>`}
<h1>${page.title}</h1>
${page.body}
</main>
</body>
</html>
`.text;
}

function navigation({ texts, path }: Visit): Html {
  const here = path.split('?')[0];
  return html`<nav aria-label="${texts.console}">${NAVIGATION.map(
    ([name, to]) =>
      html`<a href="${to}"${(to === '/' ? here === to : here?.startsWith(to)) && html` aria-current="page"`}>${texts.nav[name]}</a>`,
  )}</nav>`;
}

/** A switch to each language but this one; the page stays. */
function languages(visit: Visit): Html {
  return form(
    visit,
    '/language',
    html`<input type="hidden" name="to" value="${visit.path}">${LANGUAGES.filter(
      (one) => one !== visit.language,
    ).map(
      (one) =>
        html`<button class="quiet" name="language" value="${one}" lang="${one}">${TEXTS[one].name}</button>`,
    )}`,
    'inline',
  );
}
