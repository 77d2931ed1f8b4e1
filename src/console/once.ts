/** Shows secrets once: only the response to the form contains them, no address, cookie, log or table. */
import { type Html, html } from '../page/html.ts';
import { type Answer, show, type Visit } from './page.ts';
import { panel } from './parts.ts';

/** Returns the page with the secret and a link to `back`. The script removes the secret when the person leaves the page. */
export function showOnce(
  visit: Visit,
  what: { title: string; about: string; secret: string; facts?: Html; back: string },
): Answer {
  const { members: words } = visit.texts;
  const secret = html`<code class="once" tabindex="0" aria-label="${what.title}">${what.secret}</code>`;
  const on = html`<a class="after-once" href="${what.back}">${words.onceDone}</a>`;
  return show(
    what.title,
    panel(
      null,
      html`<p>${what.about}</p>
        ${what.facts}
        <p>${secret}</p>
        <p>${on}</p>`,
    ),
  );
}
