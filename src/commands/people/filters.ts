import { randomUUID } from 'node:crypto';
import {
  countOtherFilters,
  deleteSavedFilter,
  lockPerson,
  MOST_SAVED_FILTERS,
  putSavedFilter,
} from '../../db/people/people.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/**
 * Saves a filter of a console list for a person, replacing the person's filter of the same name. Throws INVALID_INPUT
 * (`filter.too_many`) beyond the limits.
 */
export function saveFilter(
  deps: CommandDeps,
  input: { personId: string; path: string; name: string; query: string },
): Promise<void> {
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const { personId, path, name } = input;
    // Serializes saves, so that the count is right.
    await lockPerson(em, personId);
    const others = await countOtherFilters(em, { personId, path, name });
    const { ofList, inAll } = MOST_SAVED_FILTERS;
    if (others.ofList >= ofList || others.inAll >= inAll) {
      const message = `At most ${ofList} filters are kept for one list, and ${inAll} in all.`;
      throw new Refusal('INVALID_INPUT', message, {
        faults: [{ path: '/name', code: 'filter.too_many', message }],
      });
    }
    await putSavedFilter(em, { id: randomUUID(), createdAt: now, ...input });
    auditAct(deps, em, { action: 'filter.save', subject: `${path} ${name}` }, now);
  });
}

/** Deletes a saved filter. Throws NOT_FOUND unless it belongs to the person. */
export function deleteFilter(deps: CommandDeps, input: { personId: string; id: string }): Promise<void> {
  return deps.orm.em.fork().transactional(async (em) => {
    if (!(await deleteSavedFilter(em, input.personId, input.id)))
      throw new Refusal('NOT_FOUND', `There is no saved filter ${input.id}.`);
    auditAct(deps, em, { action: 'filter.delete', subject: input.id }, deps.clock());
  });
}
