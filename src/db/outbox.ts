import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkflowMessage } from '../temporal.ts';
import { OutboxMessage } from './entities/operations.ts';

/** A moment that has come by any clock: that of the process that stores a message may be ahead of the others'. */
const AT_ONCE = new Date(0);

/** Stores a message in the open transaction: it will be dispatched if, and only if, that transaction commits. */
export function enqueue(em: EntityManager, message: WorkflowMessage, now: Date): void {
  em.create(OutboxMessage, {
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

/** A dispatcher that dies with messages in hand keeps them from the others so long. */
const LEASE_SECONDS = 10;

/**
 * Takes up to `limit` messages that wait, oldest first, in one statement: nobody else gets them for ten seconds, by
 * PostgreSQL's clock, and by then `settle` has said what became of them. Those that pause are passed over.
 */
export async function leaseWaiting(em: EntityManager, limit: number): Promise<OutboxMessage[]> {
  const rows = await em.execute<object[]>(
    `update outbox set attempts = attempts + 1,
       not_before = clock_timestamp() + ? * interval '1 second'
     where id in (
       select id from outbox where dispatched_at is null and not_before <= clock_timestamp()
       order by id limit ? for update skip locked)
     returning *`,
    [LEASE_SECONDS, limit],
  );
  const messages = rows.map((row) => em.map(OutboxMessage, row as never));
  return messages.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** What became of a message that was taken: it was dispatched, or waits for so many seconds more. */
export interface Settled {
  readonly id: bigint;
  readonly dispatched: boolean;
  readonly pauseSeconds: number;
}

/** Stores what became of messages, in one statement. */
export async function settle(em: EntityManager, all: readonly Settled[]): Promise<void> {
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
