import { randomUUID } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { isUuid } from '../domain/uuid.ts';
import { type DeliveryStatus, RETRY_DELAYS } from '../domain/webhook.ts';
import { newDeliveryWorkflowId, SIGNALS, type WorkflowMessage } from '../temporal.ts';
import { Delivery } from './entities/Delivery.ts';
import { DeliveryAttempt } from './entities/DeliveryAttempt.ts';
import { Event } from './entities/Event.ts';
import { enqueue } from './outbox.ts';

/** Which deliveries to list: every condition that is given must hold. */
export interface DeliveryFilter {
  webhookId?: string | undefined;
  status?: DeliveryStatus | undefined;
  event?: string | undefined;
  /** Of events about this enterprise, and about its CFE with this cfe_id in that environment. */
  rut?: string | undefined;
  environment?: Environment | undefined;
  cfeId?: string | undefined;
  /** Made at this moment or later. */
  since?: Date | undefined;
}

/** The events that are about one CFE. */
const OF_A_CFE = ['cfe.updated', 'receipt.delivered', 'receipt.failed'];

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
      DeliveryStatus: 'PENDING',
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

/** Deliveries, newest first, at most `limit`. */
export async function listDeliveries(
  em: EntityManager,
  { webhookId, status, event, rut, environment, cfeId, since }: DeliveryFilter,
  limit: number,
): Promise<Delivery[]> {
  const conditions = Object.entries({
    'delivery.webhook_id = ?': webhookId,
    'delivery.status = ?': status,
    'delivery.event_name = ?': event,
    'delivery.created_at >= ?': since,
    'event.rut = ?': rut,
    'event.environment = ?': environment,
    [`event.name in (${OF_A_CFE.map((name) => `'${name}'`).join(', ')})
      and substring(event.body from '"cfe_id":[[:space:]]*"([0-9]+-[0-9]+)"') = ?`]: cfeId,
  }).filter(([, value]) => value !== undefined);
  const rows = await em.execute<{ id: string }[]>(
    `select delivery.id from delivery join event on event.id = delivery.event_id
     where ${['true', ...conditions.map(([condition]) => condition)].join(' and ')}
     order by delivery.created_at desc, delivery.id desc limit ?`,
    [...conditions.map(([, value]) => value), limit],
  );
  return em.find(
    Delivery,
    { id: { $in: rows.map(({ id }) => id) } },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
}

/** The attempts of deliveries, in the order in which they were made. */
export function listAttempts(em: EntityManager, deliveryIds: readonly string[]): Promise<DeliveryAttempt[]> {
  return em.find(
    DeliveryAttempt,
    { deliveryId: { $in: [...deliveryIds] } },
    { orderBy: { deliveryId: 'asc', number: 'asc' } },
  );
}

/** Whether that execution has made an attempt of the delivery already. */
export async function hasAttempted(
  em: EntityManager,
  deliveryId: string,
  execution: string,
): Promise<boolean> {
  return (await em.count(DeliveryAttempt, { deliveryId, execution })) > 0;
}

/** Stores the next attempt of a delivery that the open transaction has locked. */
export async function insertAttempt(
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
