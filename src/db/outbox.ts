import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { WRONG_CLOCK_MILLISECONDS } from '../domain/breaker.ts';
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
 * holds are passed over. A pause that ends further ahead than any was set by a clock that is wrong, and does not count.
 */
export function lockWaiting(em: EntityManager, limit: number, now: Date): Promise<OutboxMessage[]> {
  const wrongFrom = new Date(now.getTime() + WRONG_CLOCK_MILLISECONDS);
  return em.find(
    OutboxMessage,
    { dispatchedAt: null, $or: [{ notBefore: { $lte: now } }, { notBefore: { $gt: wrongFrom } }] },
    { orderBy: { id: 'asc' }, limit, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
  );
}
