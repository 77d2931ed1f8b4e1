import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { stopRun } from '../../commands/operations/runs.ts';
import type { Run, RunItem } from '../../db/entities/operations.ts';
import { findRun, listRunItems } from '../../db/operations/runs.ts';
import { Refusal } from '../../errors.ts';
import { RUNS } from '../../lists/runs.ts';
import { runWorkflowId } from '../../temporal.ts';
import { OptionalReasonInput } from '../inputs.ts';
import { listedRow, listVerb } from '../listVerb.ts';
import { actingVerb, type CliDeps, type OutputRow, readVerb, verbGroup } from '../verb.ts';

const EXAMPLES = ['retry-2026-11-22-3f9a1c'];
const RunId = z.string().describe('id of the run, such as retry-2026-11-22-3f9a1c');
/** Limit of refused items that `run show` lists. */
const MAX_REFUSED = 1_000;
const POLL_MILLISECONDS = 500;
/** How long to wait for progress of a run: there may be no worker. */
const PATIENCE_MILLISECONDS = 60_000;

export const runRow = (run: Run): OutputRow => ({
  ...listedRow(RUNS, run),
  filter: run.filter,
  stop_asked_at: run.stopAskedAt?.toISOString() ?? null,
  stop_asked_by: run.stopAskedBy,
  workflow_id: runWorkflowId(run.id),
});

/** Returns the items of a run in order, once it has ended. Throws UNAVAILABLE without progress; the run continues. */
export async function waitForItems(
  { orm }: CliDeps,
  runId: string,
  patienceMilliseconds = PATIENCE_MILLISECONDS,
): Promise<RunItem[]> {
  let movedAt = 0;
  let progressSeenAt = performance.now();
  for (;;) {
    const run = await findRun(orm.em.fork(), runId, null);
    if (!run || run.state !== 'RUNNING') break;
    if (run.movedAt.getTime() !== movedAt) {
      movedAt = run.movedAt.getTime();
      progressSeenAt = performance.now();
    }
    if (performance.now() - progressSeenAt > patienceMilliseconds) {
      const message = `The run ${runId} is stored but has made no progress for a while: are a worker and Temporal running? It continues automatically; \`run show\` shows its progress, \`run stop\` stops it.`;
      throw new Refusal('UNAVAILABLE', message);
    }
    await sleep(POLL_MILLISECONDS);
  }
  return listRunItems(orm.em.fork(), runId, { limit: Number.MAX_SAFE_INTEGER });
}

export const runGroup = verbGroup('run', 'Bulk runs: one decision for many CFEs or deliveries', {
  list: listVerb(RUNS, {
    summary: 'List bulk runs, newest first',
    limit: [1_000, 50],
    examples: ['', '--state RUNNING --json'],
    columns: 'run_id state total done unneeded refused by reason created_at',
    search: (_, filter) => ({ ...filter, accounts: null }),
  }),
  'show RUN': readVerb({
    summary: 'Show the progress of a bulk run, and what was refused and why',
    takes: { run: RunId },
    examples: EXAMPLES,
    async run({ orm }, { run: id }) {
      const em = orm.em.fork();
      const run = await findRun(em, id, null);
      if (!run) throw new Refusal('NOT_FOUND', `There is no run ${id}.`);
      const items = await listRunItems(em, id, { limit: MAX_REFUSED, refused: true });
      const refusals = items.map(({ subject, was, message, why }) => ({
        id: subject,
        was,
        code: why?.code ?? null,
        message,
      }));
      return { ...runRow(run), refusals };
    },
  }),
  'stop RUN': actingVerb({
    summary: 'Stop a bulk run: started items are finished, no more are started',
    takes: { run: RunId, reason: OptionalReasonInput },
    examples: EXAMPLES,
    run: async (deps, { run: id, reason }) => runRow(await stopRun(deps, { id, accounts: null, reason })),
  }),
});
