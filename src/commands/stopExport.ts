import { findExport, markStopped } from '../db/receiptExports.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Gives up a file that is being made; its workflow ends by itself, and what there is of the file goes. One that has ended stays as
 * it is. Refuses one that is not there (NOT_FOUND). Whether the caller may is asked before.
 */
export function stopExport(deps: CommandDeps, id: string): Promise<void> {
  return deps.orm.em.fork().transactional(async (em) => {
    const found = await findExport(em, id);
    if (!found) throw new Refusal('NOT_FOUND', `There is no export ${id}.`);
    const now = deps.clock();
    if (!(await markStopped(em, id, now))) return;
    audited(deps, em, { action: 'export.stop', subject: id, rut: found.rut }, now);
  });
}
