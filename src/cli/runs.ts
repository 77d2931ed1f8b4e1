/** Bulk runs as the command line waits for them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunItem } from '../db/entities/RunItem.ts';
import { findRun, listItems } from '../db/runs.ts';
import { Refusal } from '../errors.ts';
import type { CliDeps } from './verb.ts';

const LOOK_MILLISECONDS = 500;
/** A run of which nothing was done for so long is waited for no longer: no worker may be there. */
const PATIENCE_MILLISECONDS = 60_000;

/** The things of a run in order, once it has ended. Refuses where it stands still (UNAVAILABLE); it goes on all the same. */
export async function endedItems(
  { orm }: CliDeps,
  runId: string,
  patienceMilliseconds = PATIENCE_MILLISECONDS,
): Promise<RunItem[]> {
  let movedAt = 0;
  let seenAt = performance.now();
  for (;;) {
    const run = await findRun(orm.em.fork(), runId, null);
    if (!run || run.state !== 'RUNNING') break;
    if (run.movedAt.getTime() !== movedAt) {
      movedAt = run.movedAt.getTime();
      seenAt = performance.now();
    }
    if (performance.now() - seenAt > patienceMilliseconds) {
      const message = `The run ${runId} is stored and has not moved for a while: is a worker running, and Temporal there? It goes on by itself; \`run show\` tells how far it is, \`run stop\` stops it.`;
      throw new Refusal('UNAVAILABLE', message);
    }
    await sleep(LOOK_MILLISECONDS);
  }
  return listItems(orm.em.fork(), runId, { limit: Number.MAX_SAFE_INTEGER });
}
