import { randomUUID } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { isUuid } from '../domain/uuid.ts';
import { RETRY_DELAYS } from '../domain/webhook.ts';
import { newDeliveryWorkflowId, SIGNALS, type WorkflowMessage } from '../temporal.ts';
import { Delivery, DeliveryAttempt, Event } from './entities/webhooks.ts';
import { enqueue } from './outbox.ts';

/** The condition that a delivery was refused and waits for its next retry; `table` names its row. */
export const waitsForRetrySql = (table: string): string =>
  `${table}.status = 'PENDING' and ${table}.next_attempt_at is not null`;

/** Whether somebody may want it sent again at once: it was given up, or waits for its next retry. */
export const isUndelivered = ({
  status,
  nextAttemptAt,
}: Pick<Delivery, 'status' | 'nextAttemptAt'>): boolean =>
  status === 'FAILED' || (status === 'PENDING' && Boolean(nextAttemptAt));

/** Puts an event on its way to a webhook with the open transaction: its delivery, and the workflow that sees to it. */
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
 * Puts a delivery, locked by the open transaction, on its way once more: same id, same bytes, at once, a new schedule.
 * One that waits for its retry waits no longer.
 */
export async function restartDelivery(em: EntityManager, delivery: Delivery, now: Date): Promise<void> {
  const event = await em.findOneOrFail(Event, { id: delivery.eventId });
  // Its last attempt may be under way: failing, it must not end what was just asked for.
  delivery.askedAgain = delivery.status === 'PENDING';
  delivery.status = 'PENDING';
  delivery.settledAt = null;
  delivery.nextAttemptAt = null;
  // By signal: a run that waits is woken, one that is just ending is started again.
  enqueue(em, { ...deliveryMessage(delivery, event), signal: SIGNALS.deliverAgain }, now);
}

/** Starts the workflow of a delivery, its schedule at the beginning; of the event it tells which, where and whose it is. */
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

/** The delivery with this id, or null. */
export async function findDelivery(em: EntityManager, id: string): Promise<Delivery | null> {
  return isUuid(id) ? em.findOne(Delivery, { id }) : null;
}

/** The delivery with this id, locked until the open transaction ends, or null. */
export async function lockDelivery(em: EntityManager, id: string): Promise<Delivery | null> {
  if (!isUuid(id)) return null;
  return em.findOne(Delivery, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** The attempts of deliveries, in the order in which they were made. */
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

/** Whether that execution has made an attempt of the delivery already. */
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
  // Counted on from the last one: the first may be gone by age.
  const [last] = await em.find(
    DeliveryAttempt,
    { deliveryId: values.deliveryId },
    { orderBy: { number: 'desc' }, limit: 1 },
  );
  const number = 1 + (last?.number ?? 0);
  em.create(DeliveryAttempt, { ...values, number });
}
