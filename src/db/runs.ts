import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { countOf, type ItemResult, type RunFilter, type RunState } from '../domain/run.ts';
import { runWorkflowId, type WorkflowMessage } from '../temporal.ts';
import { Run, RunItem } from './entities/operations.ts';
import { selectRunTargets } from './matching.ts';
import type { Seen } from './roles.ts';
import { runSql } from './sql.ts';

/** Stores a run and every thing that matches its filter now: nothing that comes to match later is part of it. */
export async function insertRun(
  em: EntityManager,
  values: Pick<Run, 'id' | 'kind' | 'accountId' | 'actor' | 'address' | 'reason'>,
  filter: RunFilter,
  now: Date,
): Promise<Run> {
  const { ids, ...kept } = filter;
  const run = em.create(Run, {
    ...values,
    filter: { ...kept, ...(ids ? { ticked: ids.length } : {}) },
    state: 'RUNNING',
    total: 0,
    done: 0,
    unneeded: 0,
    refused: 0,
    createdAt: now,
    movedAt: now,
    stopAskedAt: null,
    stopAskedBy: null,
    endedAt: null,
  });
  await em.flush();
  const { from, where, since, id, was } = selectRunTargets(run.kind, filter);
  const rows = await runSql(em)<{ total: number }>`
    with stored as (
      insert into run_item (run_id, place, subject, was)
      select ${run.id}, row_number() over (order by since, id), id, was from (
        select ${id} as id, ${since} as since, ${was} as was from ${from} where ${where}
        order by ${since}, ${id} limit ${filter.limit ?? null}) as matching
      returning 1)
    select count(*)::int as total from stored`;
  run.total = rows[0]?.total ?? 0;
  return run;
}

/** The id under which the workflow of a run runs. */
export const workflowIdOfRun = ({ id }: Pick<Run, 'id'>): string => runWorkflowId(id);

/** Starts the workflow of a run. */
export const runMessage = ({ id, filter }: Pick<Run, 'id' | 'filter'>): WorkflowMessage => ({
  workflow: 'bulkRun',
  workflowId: runWorkflowId(id),
  input: { runId: id },
  searchAttributes: {
    ...(filter.rut === undefined ? {} : { EnterpriseRut: filter.rut }),
    ...(filter.environment === undefined ? {} : { Environment: filter.environment }),
  },
});

/** The runs that are under way, oldest first. */
export const listRunningRuns = (em: EntityManager): Promise<Run[]> =>
  em.find(Run, { state: 'RUNNING' }, { orderBy: { createdAt: 'asc' } });

/** Whether a run to that webhook is under way; its id. */
export async function findRunningRunOfWebhook(em: EntityManager, webhookId: string): Promise<string | null> {
  const [row] = await em.execute<{ id: string }[]>(
    `select id from run where state = 'RUNNING' and filter ->> 'webhook' = ? limit 1`,
    [webhookId],
  );
  return row?.id ?? null;
}

/** Runs that somebody sees: operators all, others those of their accounts. */
const seenBy = (seen: Seen) => (seen === null ? {} : { accountId: { $in: [...seen] } });

/** The run with this id, as it is now; null where there is none, or somebody else's. */
export const findRun = (em: EntityManager, id: string, seen: Seen): Promise<Run | null> =>
  em.findOne(Run, { id, ...seenBy(seen) }, { refresh: true });

/** The same, locked until the open transaction ends. */
export const lockRun = (em: EntityManager, id: string, seen: Seen): Promise<Run | null> =>
  em.findOne(Run, { id, ...seenBy(seen) }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });

/** Runs, newest first; `after`: the moment and the id of the last one that was shown. */
export function listRuns(
  em: EntityManager,
  { seen, state }: { seen: Seen; state?: RunState | undefined },
  { after, limit }: { after?: { createdAt: Date; id: string } | undefined; limit: number },
): Promise<Run[]> {
  const older = after && {
    $or: [{ createdAt: { $lt: after.createdAt } }, { createdAt: after.createdAt, id: { $lt: after.id } }],
  };
  return em.find(
    Run,
    { $and: [seenBy(seen), ...(state ? [{ state }] : []), ...(older ? [older] : [])] },
    { orderBy: { createdAt: 'desc', id: 'desc' }, limit },
  );
}

/** Things of a run that have no outcome yet: those that were never begun first. */
export const listOpenRunItems = (em: EntityManager, runId: string, limit: number): Promise<RunItem[]> =>
  em.find(RunItem, { runId, outcome: null }, { orderBy: { attempts: 'asc', place: 'asc' }, limit });

/** Things of a run in order, after that place; `refused`: only those. */
export const listRunItems = (
  em: EntityManager,
  runId: string,
  { after = 0, limit, refused = false }: { after?: number; limit: number; refused?: boolean },
): Promise<RunItem[]> =>
  em.find(
    RunItem,
    { runId, place: { $gt: after }, ...(refused ? { outcome: 'refused' as const } : {}) },
    { orderBy: { place: 'asc' }, limit },
  );

/** Notes that one thing of a run is begun; how often it was, this time included. */
export async function startRunItem(
  em: EntityManager,
  { runId, place }: Pick<RunItem, 'runId' | 'place'>,
): Promise<number> {
  const [row] = await em.execute<{ attempts: number }[]>(
    'update run_item set attempts = attempts + 1 where run_id = ? and place = ? returning attempts',
    [runId, place],
  );
  return row?.attempts ?? 0;
}

/** Stores what became of one thing and counts it, in one statement; false where that was stored already. */
export async function storeRunOutcome(
  em: EntityManager,
  { runId, place }: Pick<RunItem, 'runId' | 'place'>,
  { outcome, message, why }: ItemResult,
  now: Date,
): Promise<boolean> {
  const count = countOf(outcome);
  const rows = await em.execute<unknown[]>(
    `with item as (
       update run_item set outcome = ?, message = ?, why = ?::jsonb, at = ?
       where run_id = ? and place = ? and outcome is null returning run_id)
     update run set ${count} = ${count} + 1, moved_at = ? from item where run.id = item.run_id returning run.id`,
    [outcome, message, why ? JSON.stringify(why) : null, now, runId, place, now],
  );
  return rows.length > 0;
}

/** Whether somebody has asked for a run to stop, or it has ended. */
export async function isRunStopped(em: EntityManager, runId: string): Promise<boolean> {
  const [row] = await em.execute<{ stopped: boolean }[]>(
    `select stop_asked_at is not null or state <> 'RUNNING' as stopped from run where id = ?`,
    [runId],
  );
  return row?.stopped ?? true;
}
