import type { EntityManager } from '@mikro-orm/postgresql';
import { LANES, WORKFLOWS, type WorkflowMessage, type WorkflowName } from '../temporal.ts';
import { OutboxMessage } from './entities/operations.ts';

/** A moment that has come by any clock: that of the process that stores a message may be ahead of the others'. */
const AT_ONCE = new Date(0);
/** A dispatcher that dies with messages in hand keeps them from the others so long. */
const LEASE_SECONDS = 10;

/**
 * What `enqueue` does, as the beginning of a statement that stores several: `columns` are workflow id, input, search attributes
 * and moment in SQL, and what follows says from where. Leased, they are left alone by all but whoever stores them.
 */
export const insertMessagesSql = (
  workflow: WorkflowName,
  columns: string,
  { isLeased = false } = {},
): string =>
  `insert into outbox (workflow_id, input, search_attributes, created_at, workflow, lane, attempts, not_before)
   select ${columns}, '${workflow}', ${WORKFLOWS[workflow].lane},
     ${isLeased ? `1, clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'` : '0, to_timestamp(0)'}`;

/** Stores a message in the open transaction: it will be dispatched if, and only if, that transaction commits. */
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

/** A message whose row is leased by whoever stored it, and dispatches it. */
export interface LeasedMessage extends WorkflowMessage {
  readonly id: bigint;
}

/** How many messages to take: of the lanes that go in their order, and of the last, which goes beside them. */
export interface LeaseLimits {
  readonly first: number;
  readonly bulk: number;
}

/**
 * Takes messages that wait, lane by lane and oldest first, in one statement: nobody else gets them for ten seconds, by
 * PostgreSQL's clock, and by then `settle` has said what became of them. Those that pause are passed over. However many
 * wait in the last lane, they hold nothing back, and whatever waits before them, a few of them go.
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

/** What became of a message that was taken: it was dispatched, or waits for so many seconds more. */
export interface DispatchResult {
  readonly id: bigint;
  readonly dispatched: boolean;
  readonly pauseSeconds: number;
}

/** Stores what became of messages, in one statement. */
export async function storeDispatchResults(em: EntityManager, all: readonly DispatchResult[]): Promise<void> {
  const rows = all.map(({ id, dispatched, pauseSeconds }) => ({
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
