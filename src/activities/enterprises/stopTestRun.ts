import { requireTestRun } from '../../db/enterprises/homologations.ts';
import { isActiveTestRun } from '../../domain/enterprises/homologation.ts';
import type { Activity } from '../activities.ts';
import { moveFrom, readEnd, type TestRunDeps } from './testRuns.ts';

/** Stops the active run of a day, whose workflow was cancelled. */
export function createStopTestRun(deps: TestRunDeps): Activity<'stopTestRun'> {
  return async (key) => {
    const run = await requireTestRun(deps.orm.em.fork(), key);
    if (isActiveTestRun(run.status)) await moveFrom(deps, run, 'STOPPED');
    return readEnd(deps, key);
  };
}
