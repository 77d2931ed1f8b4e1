import { randomUUID } from 'node:crypto';
import {
  countOtherFilters,
  deleteSavedFilter,
  lockPerson,
  MOST_SAVED_FILTERS,
  putSavedFilter,
} from '../db/people.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Keeps a filter of one of the console's lists for a person, in place of theirs of that name. Refuses one too many (INVALID_INPUT,
 * `filter.too_many`).
 */
export function saveFilter(
  deps: CommandDeps,
  input: { personId: string; path: string; name: string; query: string },
): Promise<void> {
  return deps.orm.em.fork().transactional(async (em) => {
    const now = deps.clock();
    const { personId, path, name } = input;
    // One at a time, so that the count is true.
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
    audited(deps, em, { action: 'filter.save', subject: `${path} ${name}` }, now);
  });
}

/** Forgets a filter that a person kept. Refuses one that is not theirs (NOT_FOUND). */
export function deleteFilter(deps: CommandDeps, input: { personId: string; id: string }): Promise<void> {
  return deps.orm.em.fork().transactional(async (em) => {
    if (!(await deleteSavedFilter(em, input.personId, input.id)))
      throw new Refusal('NOT_FOUND', `There is no saved filter ${input.id}.`);
    audited(deps, em, { action: 'filter.delete', subject: input.id }, deps.clock());
  });
}
