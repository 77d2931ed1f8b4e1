import { Context } from '@temporalio/activity';
import type { Run, RunItem } from '../../db/entities/operations.ts';
import {
  findRun,
  isRunStopped,
  listOpenRunItems,
  listRunningRuns,
  lockRun,
} from '../../db/operations/runs.ts';
import type { Database } from '../../db/orm.ts';
import type { RunResult } from '../../domain/authority/activityResults.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';

/** Items of one batch. It takes some seconds, so that the run shows its progress often. */
const BATCH = 50;
/** Items processed at the same time. */
const LANES = 5;

export interface RunDeps {
  readonly orm: Database;
  readonly clock: () => Date;
  readonly outbox: { scheduleDispatch(): void };
  /** Acts on one item and stores the result; safe to repeat. */
  readonly act: (run: Run, item: RunItem) => Promise<void>;
  /** Items per second for all active runs together; each run gets an equal share. */
  readonly itemsPerSecond: (run: Run) => number;
}

/**
 * Acts on the next items of a run; the result says whether more are left. A repeat continues where the last
 * attempt stopped.
 */
export function createActOnItems({
  batch = BATCH,
  ...deps
}: RunDeps & { batch?: number }): Activity<'actOnItems'> {
  return (runId) =>
    withHeartbeat(async () => {
      const run = await requireRun(deps, runId);
      if (run.state !== 'RUNNING') return toRunResult(run, 0);
      const startedAt = performance.now();
      const items = await listOpenRunItems(deps.orm.em.fork(), runId, batch);
      await actOn(deps, run, items);
      deps.outbox.scheduleDispatch();
      const left = await listOpenRunItems(deps.orm.em.fork(), runId, 1);
      if (left.length === 0) return toRunResult(await endRun(deps, runId), 0);
      if (await isRunStopped(deps.orm.em.fork(), runId)) return toRunResult(await endRun(deps, runId), 0);
      const runs = Math.max(1, (await listRunningRuns(deps.orm.em.fork())).length);
      const milliseconds = (items.length * runs * 1_000) / deps.itemsPerSecond(run);
      const pause = Math.max(0, Math.ceil(milliseconds - (performance.now() - startedAt)));
      return toRunResult(await requireRun(deps, runId), pause);
    });
}

/** Ends a run whose workflow was cancelled; starts no further item. */
export function createStopItems(deps: Pick<RunDeps, 'orm' | 'clock'>): Activity<'stopItems'> {
  return async (runId) => toRunResult(await endRun(deps, runId), 0);
}

/** Acts on items; starts no further item once the run is stopped or cancelled, or an item has thrown. */
async function actOn(deps: RunDeps, run: Run, items: readonly RunItem[]): Promise<void> {
  const waiting = [...items];
  const { cancellationSignal } = Context.current();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let item = waiting.shift(); item && !failed && !cancellationSignal.aborted; item = waiting.shift()) {
      if (await isRunStopped(deps.orm.em.fork(), run.id)) return;
      try {
        await deps.act(run, item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane));
  for (const result of lanes) if (result.status === 'rejected') throw result.reason;
}

async function requireRun({ orm }: Pick<RunDeps, 'orm'>, runId: string): Promise<Run> {
  const run = await findRun(orm.em.fork(), runId, null);
  if (!run) throw new Error(`there is no run ${runId}`);
  return run;
}

/** Ends a run as DONE if no item is left, as STOPPED otherwise. An ended run stays as it is. */
async function endRun({ orm, clock }: Pick<RunDeps, 'orm' | 'clock'>, runId: string): Promise<Run> {
  return orm.em.fork().transactional(async (em) => {
    const run = await lockRun(em, runId, null);
    if (!run) throw new Error(`there is no run ${runId}`);
    if (run.state !== 'RUNNING') return run;
    const left = await listOpenRunItems(em, runId, 1);
    run.state = left.length === 0 ? 'DONE' : 'STOPPED';
    run.endedAt = clock();
    return run;
  });
}

function toRunResult(run: Run, pauseMilliseconds: number): RunResult {
  const { total, done, unneeded, refused, state } = run;
  const counts = { total, done, unneeded, refused };
  return state === 'RUNNING'
    ? { kind: 'goesOn', ...counts, pauseMilliseconds }
    : { kind: 'ended', state, ...counts };
}
