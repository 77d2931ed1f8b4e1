import * as z from 'zod';
import { resolveSearchText } from '../../../db/receipts/cfeSearch.ts';
import { LONGEST_SEARCH } from '../../../domain/operations/parseSearch.ts';
import { html } from '../../../page/html.ts';
import { accountsOf } from '../../access/access.ts';
import { link } from '../../links.ts';
import { definePage, redirect, show, signedIn } from '../../page.ts';
import { panel } from '../../parts.ts';

/** GET /search: redirects to the receipt or enterprise that matches; with several, to the list. */
export const searchPage = definePage({
  name: 'search',
  route: 'GET /search',
  query: z.object({ q: z.string().max(4_000).optional() }),
  async handle({ query, visit }, { orm }) {
    const { search: words } = visit.texts;
    const text = query.q?.trim() ?? '';
    const found = await resolveSearchText(orm.em.fork(), accountsOf(signedIn(visit).viewer), text);
    if (found.kind === 'enterprise') return redirect(`/enterprises/${found.rut}`);
    if (found.kind === 'cfe') return redirect(`/cfes/${found.rut}/${found.environment}/${found.cfeId}`);
    if (found.kind === 'several') return redirect(link('/cfes', { q: text }));
    const ways = words.ways.map(
      ([way, example]) => html`<li>${way}${example !== '' && html` <code>${example}</code>`}</li>`,
    );
    const message = text === '' ? words.nothingAsked : words.nothingFor(text.slice(0, LONGEST_SEARCH));
    const content = html`<p>${message}</p>
      <p>${words.whatFinds}</p>
      <ul>
        ${ways}
      </ul>
      <p>${words.whatLeads}</p>`;
    return show(words.nothingTitle, panel(null, content));
  },
});
