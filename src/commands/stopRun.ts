import type { Run } from '../db/entities/Run.ts';
import { lockRun } from '../db/runs.ts';
import type { Seen } from '../db/visibleTo.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Stops a run: what it has begun is ended, nothing more is begun. One that has ended stays as it is. Refuses a run that is
 * not there, or somebody else's (NOT_FOUND).
 */
export function stopRun(
  deps: CommandDeps,
  { id, seen, reason }: { id: string; seen: Seen; reason?: string | undefined },
): Promise<Run> {
  return deps.orm.em.fork().transactional(async (em) => {
    const run = await lockRun(em, id, seen);
    if (!run) throw new Refusal('NOT_FOUND', `There is no run ${id}.`);
    if (run.state !== 'RUNNING' || run.stopAskedAt !== null) return run;
    const now = deps.clock();
    run.stopAskedAt = now;
    run.stopAskedBy = deps.actor ?? 'service';
    const { accountId } = run;
    const why = { ...(accountId ? { accountId } : {}), ...(reason === undefined ? {} : { reason }) };
    audited(deps, em, { action: 'run.stop', subject: id, ...why }, now);
    return run;
  });
}
