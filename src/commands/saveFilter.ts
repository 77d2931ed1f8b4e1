import { randomUUID } from 'node:crypto';
import { lockPerson } from '../db/people.ts';
import { MOST_SAVED_FILTERS, putSavedFilter, savedFiltersOf } from '../db/savedFilters.ts';
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
    const others = (await savedFiltersOf(em, personId, path)).filter((one) => one.name !== name);
    if (others.length >= MOST_SAVED_FILTERS) {
      throw new Refusal('INVALID_INPUT', `At most ${MOST_SAVED_FILTERS} filters are kept for one list.`, {
        faults: [{ path: '/name', code: 'filter.too_many', message: `at most ${MOST_SAVED_FILTERS}` }],
      });
    }
    await putSavedFilter(em, { id: randomUUID(), createdAt: now, ...input });
    audited(deps, em, { action: 'filter.save', subject: `${path} ${name}` }, now);
  });
}
