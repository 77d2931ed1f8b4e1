import * as z from 'zod';
import { deleteFilter, saveFilter } from '../../../commands/people/filters.ts';
import { ownPath } from '../../links.ts';
import { LIST_QUERY } from '../../lists.ts';
import { definePage, redirect, type Sent, signedIn, withActor } from '../../page.ts';

const FORM = {
  back: ({ sent }: { sent: Sent }) => ownPath(String(sent['to'] ?? '')),
} as const;
const To = z.string().max(2_000);

/** POST /saved-filters: saves the filter of the list at `to` under a name. */
export const sendSavedFilter = definePage({
  ...FORM,
  name: 'saved-filters',
  route: 'POST /saved-filters',
  form: z.object({ to: To, name: z.string().trim().min(1).max(60) }),
  async handle({ form: { to, name }, visit }, deps) {
    const [path = '/', search = ''] = ownPath(to).split('?');
    const query = new URLSearchParams(search);
    for (const passing of Object.keys(LIST_QUERY)) query.delete(passing);
    const { personId } = signedIn(visit).session;
    await saveFilter(withActor(deps, visit), { personId, path, name, query: query.toString() });
    return redirect(ownPath(to), { kind: 'done', text: visit.texts.lists.saved(name) });
  },
});

/** POST /saved-filters/{id}/delete. */
export const sendDeleteFilter = definePage({
  ...FORM,
  name: 'saved-filter-delete',
  route: 'POST /saved-filters/{id}/delete',
  form: z.object({ to: To }),
  async handle({ params, form: { to }, visit }, deps) {
    const { personId } = signedIn(visit).session;
    await deleteFilter(withActor(deps, visit), { personId, id: params.id });
    return redirect(ownPath(to), { kind: 'done', text: visit.texts.lists.forgotten });
  },
});
