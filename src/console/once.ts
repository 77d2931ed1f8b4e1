/** What is shown once: it stands in the answer to the form that made it and nowhere else, in no address, cookie, log or table. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type Html, html } from '../page/html.ts';
import { type Answer, show, type Visit } from './page.ts';
import { hidden, panel } from './parts.ts';

/** Names what a form makes, so that the form sent twice, as a reload does, makes it once. */
export const ONCE = { once: z.uuid() } as const;

/** The hidden field of `ONCE`. */
export const onceField = (): Html => hidden('once', randomUUID());

/** Shows a secret this once; `back` leads on. Script, where there is any, takes it off the page that is left. */
export function showOnce(
  visit: Visit,
  what: { title: string; about: string; secret: string; facts?: Html; back: string },
): Answer {
  const { members: words } = visit.texts;
  const secret = html`<code class="once" tabindex="0" aria-label="${what.title}">${what.secret}</code>`;
  const on = html`<a class="after-once" href="${what.back}">${words.onceDone}</a>`;
  return show(what.title, panel(null, html`<p>${what.about}</p>${what.facts}<p>${secret}</p><p>${on}</p>`));
}
