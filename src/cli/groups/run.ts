import * as z from 'zod';
import { stopRun } from '../../commands/stopRun.ts';
import type { Run } from '../../db/entities/Run.ts';
import { findRun, listItems, listRuns } from '../../db/runs.ts';
import { RUN_STATES } from '../../domain/run.ts';
import { Refusal } from '../../errors.ts';
import { runWorkflowId } from '../../temporal.ts';
import { REASON, Why } from '../reason.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ARGS = { RUN: 'id of the run, such as retry-2026-11-22-3f9a1c' };
const EXAMPLES = ['retry-2026-11-22-3f9a1c'];
const MOST = 1_000;
const USUAL = 50;
/** Refused things that `run show` lists. */
const MOST_REFUSED = 1_000;
const COLUMNS = ['run_id', 'state', 'total', 'done', 'unneeded', 'refused', 'by', 'reason', 'created_at'];

/** A run as the command line shows it. */
export const runRow = (run: Run): Row => ({
  run_id: run.id,
  kind: run.kind,
  state: run.state,
  by: run.actor,
  reason: run.reason,
  account_id: run.accountId,
  filter: run.filter,
  total: run.total,
  done: run.done,
  unneeded: run.unneeded,
  refused: run.refused,
  created_at: run.createdAt.toISOString(),
  moved_at: run.movedAt.toISOString(),
  stop_asked_at: run.stopAskedAt?.toISOString() ?? null,
  stop_asked_by: run.stopAskedBy,
  ended_at: run.endedAt?.toISOString() ?? null,
  workflow_id: runWorkflowId(run.id),
});

async function known({ orm }: CliDeps, id: string): Promise<Run> {
  const run = await findRun(orm.em.fork(), id, null);
  if (!run) throw new Refusal('NOT_FOUND', `There is no run ${id}.`);
  return run;
}

const list = defineVerb({
  name: 'list',
  summary: 'List bulk runs, newest first',
  reads: true,
  options: [
    { flags: '--state <state>', about: 'only runs in this state', choices: RUN_STATES },
    { flags: '--limit <n>', about: `at most this many; default: ${USUAL}`, wholeNumber: [1, MOST] },
  ],
  examples: ['', '--state RUNNING --json'],
  columns: COLUMNS,
  input: z.strictObject({ state: z.enum(RUN_STATES).optional(), limit: z.int().optional() }),
  run: async ({ orm }, { state, limit = USUAL }) =>
    (await listRuns(orm.em.fork(), { seen: null, state }, { limit })).map(runRow),
});

const show = defineVerb({
  name: 'show',
  summary: 'Show how far a bulk run is, and what was refused and why',
  reads: true,
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ run: z.string() }),
  async run(deps, { run: id }) {
    const run = await known(deps, id);
    const items = await listItems(deps.orm.em.fork(), id, { limit: MOST_REFUSED, refused: true });
    const refusals = items.map(({ subject, was, message, why }) => ({
      id: subject,
      was,
      code: why?.code ?? null,
      message,
    }));
    return { ...runRow(run), refusals };
  },
});

const stop = defineVerb({
  name: 'stop',
  summary: 'Stop a bulk run: what it has begun is ended, nothing more is begun',
  args: ARGS,
  examples: EXAMPLES,
  options: [REASON],
  input: z.strictObject({ run: z.string(), ...Why }),
  run: async (deps, { run: id, reason }) => runRow(await stopRun(deps, { id, seen: null, reason })),
});

/** `cfe run`: one decision for many things. */
export const run: Group = {
  name: 'run',
  summary: 'Bulk runs: one decision for many CFEs or deliveries',
  verbs: [list, show, stop],
};
