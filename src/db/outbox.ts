import type { EntityManager } from '@mikro-orm/postgresql';
import { LANES, WORKFLOWS, type WorkflowMessage, type WorkflowName } from '../temporal.ts';
import { OutboxMessage } from './entities/operations.ts';

/** A moment in the past by any clock: the storing process's clock may be ahead of the others'. */
const AT_ONCE = new Date(0);
/** Messages of a dispatcher that dies become available to others after this time. */
const LEASE_SECONDS = 10;

/**
 * Starts an SQL statement that enqueues many messages. `columns`: workflow id, input, search attributes and time in
 * SQL; the caller appends `from …`. With `isLeased` only the storing process dispatches them at first.
 */
export const insertMessagesSql = (
  workflow: WorkflowName,
  columns: string,
  { isLeased = false } = {},
): string =>
  `insert into outbox (workflow_id, input, search_attributes, created_at, workflow, lane, attempts, not_before)
   select ${columns}, '${workflow}', ${WORKFLOWS[workflow].lane},
     ${isLeased ? `1, clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'` : '0, to_timestamp(0)'}`;

/** Stores a message with the open transaction: it is dispatched if, and only if, that transaction commits. */
export function enqueue(em: EntityManager, message: WorkflowMessage, now: Date): void {
  em.create(OutboxMessage, {
    lane: WORKFLOWS[message.workflow].lane,
    workflow: message.workflow,
    workflowId: message.workflowId,
    input: message.input,
    signal: message.signal ?? null,
    searchAttributes: message.searchAttributes ?? {},
    createdAt: now,
    dispatchedAt: null,
    attempts: 0,
    notBefore: AT_ONCE,
  });
}

/** A stored message whose row is leased by this process, which dispatches it. */
export interface LeasedMessage extends WorkflowMessage {
  readonly id: bigint;
}

/** How many messages to take: of the ordered lanes, and of the bulk lane beside them. */
export interface LeaseLimits {
  readonly first: number;
  readonly bulk: number;
}

/**
 * Leases waiting messages, by lane and oldest first, in one statement. No other process gets them for ten seconds of
 * PostgreSQL's clock. The bulk lane has its own limit: it neither blocks the others nor starves.
 */
export async function leaseWaiting(
  em: EntityManager,
  { first, bulk }: LeaseLimits,
): Promise<OutboxMessage[]> {
  const rows = await em.execute<object[]>(
    `with first as materialized (
       select id from outbox
       where dispatched_at is null and not_before <= clock_timestamp() and lane < ${LANES.bulk}
       order by lane, id limit ? for update skip locked
     ), bulk as materialized (
       select id from outbox
       where dispatched_at is null and not_before <= clock_timestamp() and lane = ${LANES.bulk}
       order by lane, id limit ? for update skip locked
     )
     update outbox set attempts = attempts + 1,
       not_before = clock_timestamp() + ? * interval '1 second'
     where id in (select id from first union all select id from bulk)
     returning *`,
    [first, bulk, LEASE_SECONDS],
  );
  const messages = rows.map((row) => em.map(OutboxMessage, row as never));
  return messages.sort((a, b) => a.lane - b.lane || (a.id < b.id ? -1 : 1));
}

/** The result for a leased message: dispatched, or paused for some seconds. */
export interface DispatchResult {
  readonly id: bigint;
  readonly dispatched: boolean;
  readonly pauseSeconds: number;
}

/** Stores the results of a dispatch, in one statement. */
export async function storeDispatchResults(
  em: EntityManager,
  results: readonly DispatchResult[],
): Promise<void> {
  const rows = results.map(({ id, dispatched, pauseSeconds }) => ({
    id: id.toString(),
    dispatched,
    pauseSeconds,
  }));
  await em.execute(
    `update outbox set
       dispatched_at = case when one.dispatched then clock_timestamp() end,
       not_before = clock_timestamp() + one."pauseSeconds" * interval '1 second'
     from jsonb_to_recordset(?::jsonb) as one (id bigint, dispatched boolean, "pauseSeconds" float8)
     where outbox.id = one.id and dispatched_at is null`,
    [JSON.stringify(rows)],
  );
}
