import { type Html, html } from '../page/html.ts';
import { type Answer, show, type Visit } from './page.ts';
import { panel } from './parts.ts';

/** Shows a secret in the only response that contains it, with a link to `back`. Leaving the page removes it (console.js). */
export function showOnce(
  visit: Visit,
  page: { title: string; about: string; secret: string; facts?: Html; back: string },
): Answer {
  const { members: words } = visit.texts;
  const secret = html`<code class="once" tabindex="0" aria-label="${page.title}">${page.secret}</code>`;
  const content = html`<p>${page.about}</p>
    ${page.facts}
    <p>${secret}</p>
    <p><a class="after-once" href="${page.back}">${words.onceDone}</a></p>`;
  return show(page.title, panel(null, content));
}
