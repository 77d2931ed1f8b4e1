import { Context } from '@temporalio/activity';
import type { Run, RunItem } from '../db/entities/operations.ts';
import type { Database } from '../db/orm.ts';
import { findRun, isStopped, itemsLeft, lockRun, runningRuns } from '../db/runs.ts';
import type { RunResult } from '../domain/activityResults.ts';
import type { Activity } from './activities.ts';
import { withHeartbeat } from './steps/attempt.ts';

/** Things of one batch: some seconds, so that the run tells often how far it is. */
const BATCH = 50;
/** Things that are acted on at a time. */
const LANES = 5;

export interface RunDeps {
  readonly orm: Database;
  readonly clock: () => Date;
  readonly outbox: { scheduleDispatch(): void };
  /** Acts on one thing and stores what became of it; safe to repeat. */
  readonly act: (run: Run, item: RunItem) => Promise<void>;
  /** How many things all runs that are under way may take in a second; each of them has an equal part. */
  readonly itemsPerSecond: (run: Run) => number;
}

/** Acts on the next things of a run, and says whether there are more; its repeat goes on where it was broken off. */
export function createActOnItems({
  batch = BATCH,
  ...deps
}: RunDeps & { batch?: number }): Activity<'actOnItems'> {
  return (runId) =>
    withHeartbeat(async () => {
      const run = await theRun(deps, runId);
      if (run.state !== 'RUNNING') return resultOf(run, 0);
      const began = performance.now();
      const items = await itemsLeft(deps.orm.em.fork(), runId, batch);
      await actOn(deps, run, items);
      deps.outbox.scheduleDispatch();
      const left = await itemsLeft(deps.orm.em.fork(), runId, 1);
      if (left.length === 0) return resultOf(await end(deps, runId), 0);
      if (await isStopped(deps.orm.em.fork(), runId)) return resultOf(await end(deps, runId), 0);
      const runs = Math.max(1, (await runningRuns(deps.orm.em.fork())).length);
      const wanted = (items.length * runs * 1_000) / deps.itemsPerSecond(run);
      const pause = Math.max(0, Math.ceil(wanted - (performance.now() - began)));
      return resultOf(await theRun(deps, runId), pause);
    });
}

/** Ends a run whose workflow was cancelled: nothing more of it is begun. */
export function createStopItems(deps: Pick<RunDeps, 'orm' | 'clock'>): Activity<'stopItems'> {
  return async (runId) => resultOf(await end(deps, runId), 0);
}

/** A few at a time; none is begun once somebody has asked for the run to stop or cancelled it, or one has thrown. */
async function actOn(deps: RunDeps, run: Run, items: readonly RunItem[]): Promise<void> {
  const waiting = [...items];
  const { cancellationSignal } = Context.current();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let item = waiting.shift(); item && !failed && !cancellationSignal.aborted; item = waiting.shift()) {
      if (await isStopped(deps.orm.em.fork(), run.id)) return;
      try {
        await deps.act(run, item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane));
  for (const one of lanes) if (one.status === 'rejected') throw one.reason;
}

async function theRun({ orm }: Pick<RunDeps, 'orm'>, runId: string): Promise<Run> {
  const run = await findRun(orm.em.fork(), runId, null);
  if (!run) throw new Error(`there is no run ${runId}`);
  return run;
}

/** Ends a run: as done where nothing is left, as stopped otherwise. One that has ended stays as it is. */
async function end({ orm, clock }: Pick<RunDeps, 'orm' | 'clock'>, runId: string): Promise<Run> {
  return orm.em.fork().transactional(async (em) => {
    const run = await lockRun(em, runId, null);
    if (!run) throw new Error(`there is no run ${runId}`);
    if (run.state !== 'RUNNING') return run;
    const left = await itemsLeft(em, runId, 1);
    run.state = left.length === 0 ? 'DONE' : 'STOPPED';
    run.endedAt = clock();
    return run;
  });
}

function resultOf(run: Run, pauseMilliseconds: number): RunResult {
  const { total, done, unneeded, refused, state } = run;
  const counts = { total, done, unneeded, refused };
  return state === 'RUNNING'
    ? { kind: 'goesOn', ...counts, pauseMilliseconds }
    : { kind: 'ended', state, ...counts };
}
