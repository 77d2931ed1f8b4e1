import { randomUUID } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { isUuid } from '../../domain/values/uuid.ts';
import { RETRY_DELAYS } from '../../domain/webhooks/webhook.ts';
import { newDeliveryWorkflowId, SIGNALS, type WorkflowMessage } from '../../temporal.ts';
import { Delivery, DeliveryAttempt, Event } from '../entities/webhooks.ts';
import { enqueue } from '../outbox.ts';

/** SQL: a delivery failed and waits for its next retry. `table`: the name of its row. */
export const waitsForRetrySql = (table: string): string =>
  `${table}.status = 'PENDING' and ${table}.next_attempt_at is not null`;

/** Returns whether a delivery may be resent now: it was given up, or waits for its next retry. */
export const isUndelivered = ({
  status,
  nextAttemptAt,
}: Pick<Delivery, 'status' | 'nextAttemptAt'>): boolean =>
  status === 'FAILED' || (status === 'PENDING' && Boolean(nextAttemptAt));

/** Creates a delivery of an event to a webhook, and starts its workflow, with the open transaction. */
export function insertDelivery(
  em: EntityManager,
  { webhookId, event }: { webhookId: string; event: Event },
  now: Date,
): Delivery {
  const uuid = randomUUID();
  const { rut, name } = event;
  const delivery = em.create(Delivery, {
    id: uuid,
    workflowId: newDeliveryWorkflowId({ uuid, event: name, rut }),
    webhookId,
    eventId: event.id,
    eventName: name,
    status: 'PENDING',
    askedAgain: false,
    nextAttemptAt: null,
    createdAt: now,
    settledAt: null,
  });
  enqueue(em, deliveryMessage(delivery, event), now);
  return delivery;
}

/**
 * Sends a delivery again that the open transaction has locked: same id, same bytes, immediately, with a new retry
 * schedule. A waiting retry ends.
 */
export async function restartDelivery(em: EntityManager, delivery: Delivery, now: Date): Promise<void> {
  const event = await em.findOneOrFail(Event, { id: delivery.eventId });
  // If its last attempt is in progress and fails, it must not end the new schedule.
  delivery.askedAgain = delivery.status === 'PENDING';
  delivery.status = 'PENDING';
  delivery.settledAt = null;
  delivery.nextAttemptAt = null;
  // Sends a signal: it wakes a waiting workflow, and restarts one that is just ending.
  enqueue(em, { ...deliveryMessage(delivery, event), signal: SIGNALS.deliverAgain }, now);
}

/** Returns the message that starts the workflow of a delivery, with a new retry schedule. */
export function deliveryMessage(
  { id, workflowId, eventName }: Pick<Delivery, 'id' | 'workflowId' | 'eventName'>,
  { rut, environment }: { rut: string | null; environment: string },
): WorkflowMessage {
  return {
    workflow: 'deliverWebhook',
    workflowId,
    input: { deliveryId: id, delays: [...RETRY_DELAYS] },
    searchAttributes: {
      ...(rut ? { EnterpriseRut: rut } : {}),
      Environment: environment,
      State: 'PENDING',
      DeliveryEvent: eventName,
    },
  };
}

/** Returns the delivery with this id, or null. */
export async function findDelivery(em: EntityManager, id: string): Promise<Delivery | null> {
  return isUuid(id) ? em.findOne(Delivery, { id }) : null;
}

/** Returns the delivery with this id, locked until the open transaction ends, or null. */
export async function lockDelivery(em: EntityManager, id: string): Promise<Delivery | null> {
  if (!isUuid(id)) return null;
  return em.findOne(Delivery, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** Returns the attempts of deliveries, in order. */
export function listDeliveryAttempts(
  em: EntityManager,
  deliveryIds: readonly string[],
): Promise<DeliveryAttempt[]> {
  return em.find(
    DeliveryAttempt,
    { deliveryId: { $in: [...deliveryIds] } },
    { orderBy: { deliveryId: 'asc', number: 'asc' } },
  );
}

/** Returns whether this activity execution has already made an attempt of the delivery. */
export async function hasDeliveryAttempt(
  em: EntityManager,
  deliveryId: string,
  execution: string,
): Promise<boolean> {
  return (await em.count(DeliveryAttempt, { deliveryId, execution })) > 0;
}

/** Stores the next attempt of a delivery that the open transaction has locked. */
export async function insertDeliveryAttempt(
  em: EntityManager,
  values: Omit<DeliveryAttempt, 'number' | symbol>,
): Promise<void> {
  // Counts from the last one: the first may have been purged.
  const [last] = await em.find(
    DeliveryAttempt,
    { deliveryId: values.deliveryId },
    { orderBy: { number: 'desc' }, limit: 1 },
  );
  const number = 1 + (last?.number ?? 0);
  em.create(DeliveryAttempt, { ...values, number });
}
