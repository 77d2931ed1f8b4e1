/** The frame around every page. */

import { type Html, html } from '../page/html.ts';
import { type Audience, isAmong, type Viewer } from './access.ts';
import type { Topic } from './changes.ts';
import { link } from './links.ts';
import type { Visit } from './page.ts';
import { button, form } from './parts.ts';
import { LANGUAGES, TEXTS, type Texts } from './texts/index.ts';

const EVERYONE: Audience = { operators: 'VIEWER', members: 'VIEWER' };
const OPERATORS: Audience = { operators: 'VIEWER', members: null };
const MEMBERS: Audience = { operators: null, members: 'VIEWER' };

/** What the frame leads to, and whom: each row with the audience of its page. */
const NAVIGATION: readonly {
  readonly name: keyof Texts['nav'];
  readonly path: string;
  readonly audience: Audience;
}[] = [
  { name: 'health', path: '/', audience: EVERYONE },
  { name: 'cfes', path: '/cfes', audience: EVERYONE },
  { name: 'stuck', path: '/stuck', audience: OPERATORS },
  { name: 'runs', path: '/runs', audience: EVERYONE },
  { name: 'exports', path: '/exports', audience: { operators: 'SUPPORT', members: 'MEMBER' } },
  { name: 'webhooks', path: '/webhooks', audience: EVERYONE },
  { name: 'deliveries', path: '/deliveries', audience: EVERYONE },
  { name: 'keys', path: '/keys', audience: MEMBERS },
  { name: 'members', path: '/members', audience: MEMBERS },
  { name: 'plan', path: '/plan', audience: MEMBERS },
  { name: 'accounts', path: '/accounts', audience: OPERATORS },
  { name: 'audit', path: '/audit', audience: OPERATORS },
  { name: 'enterprises', path: '/enterprises', audience: EVERYONE },
  { name: 'reports', path: '/reports', audience: EVERYONE },
];

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
${signedIn && html`${navigation(visit, signedIn.viewer)}${searchField(visit)}`}
<div class="tools">
${languages(visit)}
${signedIn && html`<a href="/help" id="help" title="${texts.lists.keysTitle}" aria-keyshortcuts="?">?</a>`}
${signedIn && html`<a href="/me" title="${texts.account}">${signedIn.session.email}</a>${form(visit, '/sign-out', button(texts.signOut, 'quiet'), 'inline')}`}
</div>
</header>
<main id="main" tabindex="-1"${live}>
${flash && html`<p class="flash ${flash.kind}" role="status">${flash.text}</p>`}
<h1>${page.title}</h1>
${page.body}
</main>
${signedIn && html`<footer class="zone">${texts.zone}</footer>`}
${signedIn && html`<dialog id="keys" aria-labelledby="keys-title"><form method="dialog"><h2 id="keys-title">${texts.lists.keysTitle}</h2>${keyHelp(visit)}<button class="quiet">${texts.lists.keysClose}</button></form></dialog>`}
</body>
</html>
`.text;
}

function navigation({ texts, path }: Visit, viewer: Viewer): Html {
  const here = path.split('?')[0] ?? '/';
  const isHere = (to: string): boolean => here === to || (to !== '/' && here.startsWith(`${to}/`));
  return html`<nav aria-label="${texts.console}">${NAVIGATION.filter(({ audience }) =>
    isAmong(viewer, audience),
  ).map(
    ({ name, path: to }) =>
      html`<a href="${to}"${isHere(to) && html` aria-current="page"`}>${texts.nav[name]}</a>`,
  )}</nav>`;
}

/** Finds a receipt by whatever somebody has of it. */
function searchField({ texts: { lists: words } }: Visit): Html {
  return html`<form class="search" role="search" method="get" action="/search"><input type="search" name="q" maxlength="255" autocomplete="off" aria-label="${words.search}" placeholder="${words.searchHint}" aria-keyshortcuts="/"></form>`;
}

/** What each key does; also a page of its own, for who has no script. */
export const keyHelp = ({ texts }: Visit): Html =>
  html`<dl class="keys">${Object.entries(texts.lists.keys).map(
    ([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`,
  )}</dl>`;

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
