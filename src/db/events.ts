import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import { enterpriseChanges } from '../domain/enterpriseObject.ts';
import { enterpriseUpdated, eventBody, type WebhookEvent, webhookTest } from '../domain/webhookEvents.ts';
import { insertDelivery } from './deliveries.ts';
import { enterpriseObjectOf } from './enterpriseObjects.ts';
import type { Delivery } from './entities/Delivery.ts';
import type { Enterprise } from './entities/Enterprise.ts';
import { Event } from './entities/Event.ts';
import { subscribedWebhooks } from './webhooks.ts';

/**
 * Stores in the open transaction that something happened to an enterprise, in the words in which customers' servers
 * are told, and puts it on its way to each webhook that selects it: there is no change without its event, and no event
 * without its change. With `accountId` only that account is told. Of what there are several a CFE, only what a webhook
 * gets is stored.
 */
export async function recordEvent(
  em: EntityManager,
  about: { rut: string; environment: Environment; accountId?: string },
  event: WebhookEvent,
  now: Date,
): Promise<void> {
  const { rut, accountId } = about;
  const webhookIds = await subscribedWebhooks(em, { rut, event: event.name, accountId });
  if (MANY.includes(event.name) && webhookIds.length === 0) return;
  const stored = insertEvent(em, about, event, now);
  for (const webhookId of webhookIds) insertDelivery(em, { webhookId, event: stored }, now);
}

/** Events of which there are several a CFE. */
const MANY: readonly string[] = [
  'cfe.updated',
  'receipt.delivered',
  'receipt.failed',
] satisfies WebhookEvent['name'][];

/** Puts a test on its way to one webhook, with the open transaction. */
export function recordTest(em: EntityManager, webhookId: string, now: Date): Delivery {
  const event = insertEvent(em, { rut: null, environment: 'production' }, webhookTest(webhookId), now);
  return insertDelivery(em, { webhookId, event }, now);
}

/** The body is made here, once; every attempt sends these bytes. */
function insertEvent(
  em: EntityManager,
  { rut, environment }: { rut: string | null; environment: Environment },
  event: WebhookEvent,
  now: Date,
): Event {
  const { name } = event;
  return em.create(Event, {
    id: randomUUID(),
    rut,
    environment,
    name,
    body: eventBody(event, now),
    createdAt: now,
  });
}

/**
 * Runs `change` on an enterprise that the open transaction has locked, and records `enterprise.updated` if the
 * enterprise object is another afterwards.
 */
export async function recordingChanges<T>(
  em: EntityManager,
  enterprise: Enterprise,
  now: Date,
  change: () => T | Promise<T>,
): Promise<T> {
  const before = await enterpriseObjectOf(em, enterprise, now);
  const result = await change();
  await em.flush();
  const after = await enterpriseObjectOf(em, enterprise, now);
  const changes = enterpriseChanges(before, after);
  if (Object.keys(changes).length > 0) {
    const about = { rut: enterprise.rut, environment: 'production' as const };
    await recordEvent(em, about, enterpriseUpdated(after, changes), now);
  }
  return result;
}

/** The bodies of events, by their ids. */
export async function bodiesOf(em: EntityManager, ids: readonly string[]): Promise<Map<string, string>> {
  const events = await em.find(Event, { id: { $in: [...ids] } });
  return new Map(events.map(({ id, body }) => [id, body]));
}

/** The event with this id. Throws where there is none. */
export const eventById = (em: EntityManager, id: string): Promise<Event> => em.findOneOrFail(Event, { id });
