/** The frame of every page. */

import { type Html, html } from '../page/html.ts';
import { LANGUAGES, TEXTS, type Texts } from '../words/console.ts';
import type { Viewer } from './access/access.ts';
import { mayOpen, type PageRoute } from './access/permissions.ts';
import type { Topic } from './changes.ts';
import { link } from './links.ts';
import type { Visit } from './page.ts';
import { button, hidden, renderForm } from './parts.ts';

/** Links of the frame, each shown only to viewers who may open it. */
const NAVIGATION: readonly {
  readonly name: keyof Texts['nav'];
  readonly route: Extract<PageRoute, `GET ${string}`>;
}[] = [
  { name: 'health', route: 'GET /' },
  { name: 'cfes', route: 'GET /cfes' },
  { name: 'stuck', route: 'GET /stuck' },
  { name: 'runs', route: 'GET /runs' },
  { name: 'exports', route: 'GET /exports' },
  { name: 'webhooks', route: 'GET /webhooks' },
  { name: 'deliveries', route: 'GET /deliveries' },
  { name: 'keys', route: 'GET /keys' },
  { name: 'members', route: 'GET /members' },
  { name: 'plan', route: 'GET /plan' },
  { name: 'accounts', route: 'GET /accounts' },
  { name: 'audit', route: 'GET /audit' },
  { name: 'enterprises', route: 'GET /enterprises' },
  { name: 'reports', route: 'GET /reports' },
];

/** Forbids htmx to evaluate code, add styles, call other hosts and cache pages. */
const HTMX = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
});

/** Renders a whole page. Changes of the topics in `live` reload its main part. */
export function layout(visit: Visit, page: { title: string; body: Html; live?: readonly Topic[] }): string {
  const { texts, language, signedIn, path, flash } = visit;
  const live =
    signedIn && page.live
      ? html`data-changes="${link('/changes', { of: page.live.join(',') })}" hx-get="${path}"
        hx-trigger="changed" hx-select="#main" hx-swap="morph:outerHTML" hx-ext="morph"`
      : html``;
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="htmx-config" content="${HTMX}" />
        <title>${page.title} · ${texts.console}</title>
        <link rel="icon" href="/files/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/files/console.css" />
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
            ${
              signedIn &&
              html`<a href="/help" id="help" title="${texts.lists.keysTitle}" aria-keyshortcuts="?">?</a>
                <a href="/me" title="${texts.account}">${signedIn.session.email}</a>${signOutForm(visit)}`
            }
          </div>
        </header>
        <main id="main" tabindex="-1" ${live}>
          ${flash && html`<p class="flash ${flash.kind}" role="status">${flash.text}</p>`}
          <h1>${page.title}</h1>
          ${page.body}
        </main>
        ${
          signedIn &&
          html`<footer class="zone">${texts.zone}</footer>
            ${keysDialog(visit)}`
        }
      </body>
    </html>`.text;
}

function navigation({ texts, path }: Visit, viewer: Viewer): Html {
  const here = path.split('?')[0] ?? '/';
  const isHere = (to: string): boolean => here === to || (to !== '/' && here.startsWith(`${to}/`));
  return html`<nav aria-label="${texts.console}">
    ${NAVIGATION.filter(({ route }) => mayOpen(viewer, route)).map(({ name, route }) => {
      const to = route.slice('GET '.length);
      return html`<a href="${to}" ${isHere(to) && html`aria-current="page"`}>${texts.nav[name]}</a>`;
    })}
  </nav>`;
}

const signOutForm = (visit: Visit): Html =>
  renderForm(visit, '/sign-out', button(visit.texts.signOut, 'quiet'), 'inline');

/** Renders the search field for receipts. */
function searchField({ texts: { lists: words } }: Visit): Html {
  return html`<form class="search" role="search" method="get" action="/search">
    <input
      type="search"
      name="q"
      maxlength="255"
      autocomplete="off"
      aria-label="${words.search}"
      placeholder="${words.searchHint}"
      aria-keyshortcuts="/"
    />
  </form>`;
}

/** Renders the dialog with the keyboard shortcuts. */
const keysDialog = (visit: Visit): Html => {
  const { lists: words } = visit.texts;
  return html`<dialog id="keys" aria-labelledby="keys-title">
    <form method="dialog">
      <h2 id="keys-title">${words.keysTitle}</h2>
      ${keyHelp(visit)}
      <button class="quiet">${words.keysClose}</button>
    </form>
  </dialog>`;
};

/** Renders the keyboard shortcuts, for the dialog and for the help page. */
export const keyHelp = ({ texts }: Visit): Html =>
  html`<dl class="keys">
    ${Object.entries(texts.lists.keys).map(
      ([key, what]) =>
        html`<div>
          <dt><kbd>${key}</kbd></dt>
          <dd>${what}</dd>
        </div>`,
    )}
  </dl>`;

/** Renders a button for each other language, which reopens the same page. */
function languages(visit: Visit): Html {
  const buttons = LANGUAGES.filter((one) => one !== visit.language).map(
    (one) =>
      html`<button class="quiet" name="language" value="${one}" lang="${one}">${TEXTS[one].name}</button>`,
  );
  return renderForm(visit, '/language', html`${hidden('to', visit.path)}${buttons}`, 'inline');
}
