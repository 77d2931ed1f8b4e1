/** Filters that a person saved under a name, for each list. */
import * as z from 'zod';
import { deleteFilter, saveFilter } from '../commands/people/filters.ts';
import type { listSavedFilters } from '../db/people/people.ts';
import { type Html, html } from '../page/html.ts';
import { state, text } from './fields.ts';
import { LIST_QUERY } from './filters.ts';
import { defineForm } from './form.ts';
import { ownPath } from './links.ts';
import { type Sent, signedIn, type Visit } from './page.ts';

const FORM = { back: ({ sent }: { sent: Sent }) => ownPath(String(sent['to'] ?? '')) } as const;
/** The address of the list. */
const to = () => state(z.string().max(2_000));

export const filterSaving = defineForm('POST /saved-filters', {
  ...FORM,
  as: 'folded',
  words: ({ lists: words }) => ({ title: words.save, go: words.saveGo }),
  fields: ({ lists: words }) => ({
    to: to(),
    name: text(words.saveAs, { schema: z.string().min(1), maxlength: 60 }),
  }),
  async run({ form: { to: address, name }, visit }, deps) {
    const [path = '/', search = ''] = ownPath(address).split('?');
    const query = new URLSearchParams(search);
    for (const passing of Object.keys(LIST_QUERY)) query.delete(passing);
    const { personId } = signedIn(visit).session;
    await saveFilter(deps, { personId, path, name, query: query.toString() });
    return visit.texts.lists.saved(name);
  },
});

export const filterDeletion = defineForm('POST /saved-filters/{id}/delete', {
  ...FORM,
  as: 'inline',
  words: ({ lists: words }) => ({ go: '×', isQuiet: true, done: words.forgotten }),
  fields: () => ({ to: to() }),
  command: ({ params: { id }, visit }, deps) =>
    deleteFilter(deps, { personId: signedIn(visit).session.personId, id }),
});

/** Renders a person's saved filters of the list at `path`, and the form to save the current one; `here`: its address. */
export function savedFilters(
  visit: Visit,
  { path, here }: { readonly path: string; readonly here: string },
  saved: Awaited<ReturnType<typeof listSavedFilters>>,
): Html {
  const isSet = here !== path;
  const isSaved = saved.some(({ query }) => `${path}?${query}` === here);
  if (saved.length === 0 && !isSet) return html``;
  const all = saved.map(({ id, name, query }) => {
    const address = `${path}?${query}`;
    const leads = html`<a href="${address}" ${address === here && html`aria-current="true"`}>${name}</a>`;
    const forget = filterDeletion.draw(
      visit,
      { id },
      { values: { to: here }, label: visit.texts.lists.forget(name) },
    );
    return html`<span class="one">${leads}${forget}</span>`;
  });
  const save = isSet && !isSaved && filterSaving.draw(visit, {}, { values: { to: here } });
  return html`<div class="saved">${all}${save}</div>`;
}
