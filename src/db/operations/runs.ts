import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { type ItemResult, type RunFilter, type RunState, runCountOf } from '../../domain/operations/run.ts';
import { runWorkflowId, type WorkflowMessage } from '../../temporal.ts';
import { Run, RunItem } from '../entities/operations.ts';
import type { Cfe } from '../entities/receipts.ts';
import { type ListPage, newestFirst } from '../page.ts';
import { ofAccounts, type ViewerAccounts } from '../people/roles.ts';
import { findCfesById } from '../receipts/cfes.ts';
import { givenConditions, runSql } from '../sql.ts';
import { selectRunTargets } from './runTargets.ts';

/** Stores a run and all items that match its filter now; later matches are not part of it. */
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

/** Returns the workflow id of a run. */
export const workflowIdOfRun = ({ id }: Pick<Run, 'id'>): string => runWorkflowId(id);

/** Returns the message that starts the workflow of a run. */
export const runMessage = ({ id, filter }: Pick<Run, 'id' | 'filter'>): WorkflowMessage => ({
  workflow: 'bulkRun',
  workflowId: runWorkflowId(id),
  input: { runId: id },
  searchAttributes: {
    ...(filter.rut === undefined ? {} : { EnterpriseRut: filter.rut }),
    ...(filter.environment === undefined ? {} : { Environment: filter.environment }),
  },
});

/** Returns the running runs, oldest first. */
export const listRunningRuns = (em: EntityManager): Promise<Run[]> =>
  em.find(Run, { state: 'RUNNING' }, { orderBy: { createdAt: 'asc' } });

/** Returns the id of a running run for this webhook, or null. */
export async function findRunningRunOfWebhook(em: EntityManager, webhookId: string): Promise<string | null> {
  const [row] = await em.execute<{ id: string }[]>(
    `select id from run where state = 'RUNNING' and filter ->> 'webhook' = ? limit 1`,
    [webhookId],
  );
  return row?.id ?? null;
}

/** Returns the current state of a run; null if it does not exist or is not visible. */
export const findRun = (em: EntityManager, id: string, accounts: ViewerAccounts): Promise<Run | null> =>
  em.findOne(Run, { id, ...ofAccounts(accounts) }, { refresh: true });

/** Returns a run, locked until the open transaction ends; null if it does not exist or is not visible. */
export const lockRun = (em: EntityManager, id: string, accounts: ViewerAccounts): Promise<Run | null> =>
  em.findOne(Run, { id, ...ofAccounts(accounts) }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });

const RUN_ORDER = newestFirst('text');

/** Returns a page of runs, newest first. */
export function listRuns(
  em: EntityManager,
  { accounts, state }: { accounts: ViewerAccounts; state?: RunState | undefined },
  { after, limit }: ListPage,
): Promise<Run[]> {
  return em.find(
    Run,
    { ...ofAccounts(accounts), ...givenConditions({ state }), ...RUN_ORDER.after(after) },
    { orderBy: RUN_ORDER.orderBy, limit },
  );
}

/** Returns items of a run without an outcome, those without attempts first. */
export const listOpenRunItems = (em: EntityManager, runId: string, limit: number): Promise<RunItem[]> =>
  em.find(RunItem, { runId, outcome: null }, { orderBy: { attempts: 'asc', place: 'asc' }, limit });

/** Returns items of a run after a position, in order; `refused`: only refused ones. */
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

/** A refused item of a run, with its CFE if it is about one. */
export interface Refused {
  readonly item: RunItem;
  readonly cfe: Cfe | undefined;
}

/** Returns a page of the refused items of a run, in order. */
export async function listRefusals(
  em: EntityManager,
  { id, kind }: Pick<Run, 'id' | 'kind'>,
  { after, limit }: ListPage,
): Promise<Refused[]> {
  const items = await listRunItems(em, id, { after: Number(after?.[0] ?? 0), limit, refused: true });
  const subjects = kind === 'redeliver' ? [] : items.map(({ subject }) => subject);
  const cfes = await findCfesById(em, subjects);
  return items.map((item) => ({ item, cfe: cfes.get(item.subject) }));
}

/** Counts an attempt of one item of a run; returns how many there were, including this one. */
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

/** Stores the outcome of one item and counts it, in one statement; returns false if it already has one. */
export async function storeRunOutcome(
  em: EntityManager,
  { runId, place }: Pick<RunItem, 'runId' | 'place'>,
  { outcome, message, why }: ItemResult,
  now: Date,
): Promise<boolean> {
  const count = runCountOf(outcome);
  const rows = await em.execute<unknown[]>(
    `with item as (
       update run_item set outcome = ?, message = ?, why = ?::jsonb, at = ?
       where run_id = ? and place = ? and outcome is null returning run_id)
     update run set ${count} = ${count} + 1, moved_at = ? from item where run.id = item.run_id returning run.id`,
    [outcome, message, why ? JSON.stringify(why) : null, now, runId, place, now],
  );
  return rows.length > 0;
}

/** Returns whether a run was asked to stop, or has ended. */
export async function isRunStopped(em: EntityManager, runId: string): Promise<boolean> {
  const [row] = await em.execute<{ stopped: boolean }[]>(
    `select stop_asked_at is not null or state <> 'RUNNING' as stopped from run where id = ?`,
    [runId],
  );
  return row?.stopped ?? true;
}
