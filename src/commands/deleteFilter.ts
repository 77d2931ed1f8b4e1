import { deleteSavedFilter } from '../db/savedFilters.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Forgets a filter that a person kept. Refuses one that is not theirs (NOT_FOUND). */
export function deleteFilter(deps: CommandDeps, input: { personId: string; id: string }): Promise<void> {
  return deps.orm.em.fork().transactional(async (em) => {
    if (!(await deleteSavedFilter(em, input.personId, input.id)))
      throw new Refusal('NOT_FOUND', `There is no saved filter ${input.id}.`);
    audited(deps, em, { action: 'filter.delete', subject: input.id }, deps.clock());
  });
}
