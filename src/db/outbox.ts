import { type EntityManager, LockMode, raw } from '@mikro-orm/postgresql';
import type { WorkflowMessage } from '../temporal.ts';
import { OutboxMessage } from './entities/OutboxMessage.ts';

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

/**
 * Up to `limit` messages that wait, oldest first, locked for the open transaction; those that another dispatcher
 * holds are passed over, and so are those that pause by PostgreSQL's clock.
 */
export function lockWaiting(em: EntityManager, limit: number): Promise<OutboxMessage[]> {
  return em.find(
    OutboxMessage,
    { dispatchedAt: null, notBefore: { $lte: raw('clock_timestamp()') } },
    { orderBy: { id: 'asc' }, limit, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
  );
}
