/** The filters of lists that a person saved under a name. */
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
/** Path and query of the list. */
const addressField = () => state(z.string().max(2_000));

export const filterSaving = defineForm('POST /saved-filters', {
  ...FORM,
  as: 'folded',
  words: ({ lists: words }) => ({ title: words.save, submit: words.saveSubmit }),
  fields: ({ lists: words }) => ({
    to: addressField(),
    name: text(words.saveAs, { schema: z.string().min(1), maxlength: 60 }),
  }),
  async run({ form: { to: address, name }, visit }, deps) {
    const [path = '/', search = ''] = ownPath(address).split('?');
    const query = new URLSearchParams(search);
    for (const unsaved of Object.keys(LIST_QUERY)) query.delete(unsaved);
    const { personId } = signedIn(visit).session;
    await saveFilter(deps, { personId, path, name, query: query.toString() });
    return visit.texts.lists.saved(name);
  },
});

export const filterDeletion = defineForm('POST /saved-filters/{id}/delete', {
  ...FORM,
  as: 'inline',
  words: ({ lists: words }) => ({ submit: '×', isQuiet: true, done: words.forgotten }),
  fields: () => ({ to: addressField() }),
  command: ({ params: { id }, visit }, deps) =>
    deleteFilter(deps, { personId: signedIn(visit).session.personId, id }),
});

/** Renders a person's saved filters of the list at `path`, and the form to save the filter at the address `current`. */
export function renderSavedFilters(
  visit: Visit,
  { path, current }: { readonly path: string; readonly current: string },
  saved: Awaited<ReturnType<typeof listSavedFilters>>,
): Html {
  const hasFilter = current !== path;
  const isSaved = saved.some(({ query }) => `${path}?${query}` === current);
  if (saved.length === 0 && !hasFilter) return html``;
  const values = { to: current };
  const links = saved.map(({ id, name, query }) => {
    const address = `${path}?${query}`;
    const open = html`<a href="${address}" ${address === current && html`aria-current="true"`}>${name}</a>`;
    const remove = filterDeletion.draw(visit, { id }, { values, label: visit.texts.lists.forget(name) });
    return html`<span class="one">${open}${remove}</span>`;
  });
  const save = hasFilter && !isSaved && filterSaving.draw(visit, {}, { values });
  return html`<div class="saved">${links}${save}</div>`;
}
