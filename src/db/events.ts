import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuthorityChange } from '../domain/authorityStatus.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { enterpriseChanges } from '../domain/enterpriseObject.ts';
import {
  authorityUpdated,
  enterpriseUpdated,
  eventBody,
  type WebhookEvent,
  webhookTest,
} from '../domain/webhookEvents.ts';
import { listForAccounts } from './accountEvents.ts';
import { insertDelivery } from './deliveries.ts';
import { enterpriseObjectOf } from './enterpriseObjects.ts';
import type { Delivery } from './entities/Delivery.ts';
import type { Enterprise } from './entities/Enterprise.ts';
import { Event } from './entities/Event.ts';
import { type SelectingWebhook, subscribedWebhooks, webhooksSelecting } from './webhooks.ts';

/**
 * Stores in the open transaction that something happened to an enterprise, in the words in which customers' servers
 * are told, puts it on its way to each webhook that selects it, and lists it for their accounts: there is no change without its event, and no event
 * without its change. With `accountId` only that account is told. Of what there are several a CFE, only what a webhook
 * selected is stored; one that is disabled gets it not, and its account reads it.
 */
export async function recordEvent(
  em: EntityManager,
  about: { rut: string; environment: Environment; accountId?: string },
  event: WebhookEvent,
  now: Date,
): Promise<void> {
  const { rut, accountId } = about;
  const webhooks = await subscribedWebhooks(em, { rut, event: event.name, accountId });
  if (MANY.includes(event.name) && webhooks.length === 0) return;
  await tell(em, insertEvent(em, about, event, now), webhooks);
}

/** Puts an event on its way to the webhooks that selected it, and lists it for their accounts. */
async function tell(em: EntityManager, event: Event, webhooks: readonly SelectingWebhook[]): Promise<void> {
  for (const { id, enabled } of webhooks) {
    if (enabled) insertDelivery(em, { webhookId: id, event }, event.createdAt);
  }
  await listForAccounts(em, event, [...new Set(webhooks.map(({ accountId }) => accountId))]);
}

/** Stores and tells in the open transaction that the authority is away since then, or answers again. */
export async function recordAuthorityEvent(
  em: EntityManager,
  environment: Environment,
  status: AuthorityChange,
  since: Date,
): Promise<void> {
  const webhooks = await webhooksSelecting(em, 'authority.updated');
  if (webhooks.length === 0) return;
  const event = authorityUpdated(environment, status, since);
  await tell(em, insertEvent(em, { rut: null, environment }, event, since), webhooks);
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
