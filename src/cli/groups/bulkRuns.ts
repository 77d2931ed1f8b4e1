import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { stopRun } from '../../commands/runs.ts';
import type { Run, RunItem } from '../../db/entities/operations.ts';
import { findRun, listRunItems, listRuns } from '../../db/runs.ts';
import { RUN_STATES } from '../../domain/run.ts';
import { Refusal } from '../../errors.ts';
import { runWorkflowId } from '../../temporal.ts';
import { limit, OptionalReason, optional } from '../inputs.ts';
import { act, type CliDeps, group, query, type Row } from '../verb.ts';

const EXAMPLES = ['retry-2026-11-22-3f9a1c'];
const RunId = z.string().describe('id of the run, such as retry-2026-11-22-3f9a1c');
/** Refused things that `run show` lists. */
const MOST_REFUSED = 1_000;
const LOOK_MILLISECONDS = 500;
/** A run of which nothing was done for so long is waited for no longer: no worker may be there. */
const PATIENCE_MILLISECONDS = 60_000;

/** A run as the command line shows it. */
export const runRow = (one: Run): Row => ({
  run_id: one.id,
  kind: one.kind,
  state: one.state,
  by: one.actor,
  reason: one.reason,
  account_id: one.accountId,
  filter: one.filter,
  total: one.total,
  done: one.done,
  unneeded: one.unneeded,
  refused: one.refused,
  created_at: one.createdAt.toISOString(),
  moved_at: one.movedAt.toISOString(),
  stop_asked_at: one.stopAskedAt?.toISOString() ?? null,
  stop_asked_by: one.stopAskedBy,
  ended_at: one.endedAt?.toISOString() ?? null,
  workflow_id: runWorkflowId(one.id),
});

/** The things of a run in order, once it has ended. Refuses where it stands still (UNAVAILABLE); it goes on all the same. */
export async function endedItems(
  { orm }: CliDeps,
  runId: string,
  patienceMilliseconds = PATIENCE_MILLISECONDS,
): Promise<RunItem[]> {
  let movedAt = 0;
  let seenAt = performance.now();
  for (;;) {
    const one = await findRun(orm.em.fork(), runId, null);
    if (!one || one.state !== 'RUNNING') break;
    if (one.movedAt.getTime() !== movedAt) {
      movedAt = one.movedAt.getTime();
      seenAt = performance.now();
    }
    if (performance.now() - seenAt > patienceMilliseconds) {
      const message = `The run ${runId} is stored and has not moved for a while: is a worker running, and Temporal there? It goes on by itself; \`run show\` tells how far it is, \`run stop\` stops it.`;
      throw new Refusal('UNAVAILABLE', message);
    }
    await sleep(LOOK_MILLISECONDS);
  }
  return listRunItems(orm.em.fork(), runId, { limit: Number.MAX_SAFE_INTEGER });
}

export const run = group('run', 'Bulk runs: one decision for many CFEs or deliveries', {
  list: query({
    summary: 'List bulk runs, newest first',
    takes: {
      state: optional(z.enum(RUN_STATES), 'only runs in this state'),
      limit: limit(1_000, 50),
    },
    examples: ['', '--state RUNNING --json'],
    columns: 'run_id state total done unneeded refused by reason created_at',
    run: async ({ orm }, { state, limit: most }) =>
      (await listRuns(orm.em.fork(), { seen: null, state }, { limit: most })).map(runRow),
  }),
  'show RUN': query({
    summary: 'Show how far a bulk run is, and what was refused and why',
    takes: { run: RunId },
    examples: EXAMPLES,
    async run({ orm }, { run: id }) {
      const em = orm.em.fork();
      const found = await findRun(em, id, null);
      if (!found) throw new Refusal('NOT_FOUND', `There is no run ${id}.`);
      const items = await listRunItems(em, id, { limit: MOST_REFUSED, refused: true });
      const refusals = items.map(({ subject, was, message, why }) => ({
        id: subject,
        was,
        code: why?.code ?? null,
        message,
      }));
      return { ...runRow(found), refusals };
    },
  }),
  'stop RUN': act({
    summary: 'Stop a bulk run: what it has begun is ended, nothing more is begun',
    takes: { run: RunId, reason: OptionalReason },
    examples: EXAMPLES,
    run: async (deps, { run: id, reason }) => runRow(await stopRun(deps, { id, seen: null, reason })),
  }),
});
