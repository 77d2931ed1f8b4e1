import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuthorityChange } from '../../domain/authority/authorityStatus.ts';
import { enterpriseChanges } from '../../domain/enterprises/enterpriseObject.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { eventRow, type SelectableEvent } from '../../domain/webhooks/events.ts';
import { type DeliveryStatus, RETRY_DELAYS } from '../../domain/webhooks/webhook.ts';
import {
  authorityUpdated,
  enterpriseUpdated,
  eventBody,
  type WebhookEvent,
  webhookTest,
} from '../../domain/webhooks/webhookEvents.ts';
import { newDeliveryWorkflowId } from '../../temporal.ts';
import { buildEnterpriseObject } from '../enterprises/enterprises.ts';
import type { Enterprise } from '../entities/enterprises.ts';
import { type Delivery, Event } from '../entities/webhooks.ts';
import { insertMessagesSql } from '../outbox.ts';
import { insertDelivery } from './deliveries.ts';
import {
  findSelectingWebhooks,
  findSubscribedWebhooks,
  type SelectingWebhook,
  subscribedWebhooksSql,
} from './webhooks.ts';

/**
 * Stores an event of an enterprise and its deliveries with the open transaction: no change without its event.
 * `accountId`: notifies that account alone. Frequent events of one CFE are stored only if a webhook selects them.
 */
export async function recordEvent(
  em: EntityManager,
  about: { rut: string; environment: Environment; accountId?: string },
  event: WebhookEvent,
  now: Date,
): Promise<void> {
  const { rut, accountId } = about;
  const webhooks = accountId
    ? await findSelectingWebhooks(em, event.name, accountId)
    : await findSubscribedWebhooks(em, { rut, event: event.name });
  if (eventRow(event.name).isOfOneCfe && webhooks.length === 0) return;
  await deliver(em, insertEvent(em, about, event, now), webhooks);
}

/** Creates deliveries of an event to the enabled webhooks, and lists it for all their accounts. */
async function deliver(
  em: EntityManager,
  event: Event,
  webhooks: readonly SelectingWebhook[],
): Promise<void> {
  for (const { id, enabled } of webhooks) {
    if (enabled) insertDelivery(em, { webhookId: id, event }, event.createdAt);
  }
  await listForAccounts(em, event, [...new Set(webhooks.map(({ accountId }) => accountId))]);
}

/**
 * Stores the events of moved CFEs, and their deliveries, as part of a statement. `moved`: a CTE with id, rut,
 * environment and `body`, the text to send. Parameters: `moveEventValues`.
 */
export const moveEventsSql = (moved: string): string => `
  heard as materialized (
    select gen_random_uuid() as id, one.rut, one.environment, one.body from ${moved} one
    where exists (select ${subscribedWebhooksSql('one.rut')})),
  events as (
    insert into event (id, rut, environment, name, body, created_at)
    select id, rut, environment, '${CFE_UPDATED}', body, ?::timestamptz from heard),
  hearing as materialized (
    select heard.id as event_id, heard.rut, heard.environment, hook.*, gen_random_uuid() as id
    from heard cross join lateral (
      select w.id as webhook_id, w.account_id, w.enabled, w.created_at ${subscribedWebhooksSql('heard.rut')}) hook),
  listed as (
    insert into account_event (account_id, event_id, event_name)
    select distinct account_id, event_id, '${CFE_UPDATED}' from hearing),
  deliveries as (
    insert into delivery (id, workflow_id, webhook_id, event_id, event_name, status, asked_again, created_at)
    select id, '${DELIVERY_PREFIX}' || rut || ':' || id, webhook_id, event_id, '${CFE_UPDATED}', 'PENDING', false,
      ?::timestamptz
    from hearing where enabled),
  deliveries_started as (
    ${insertMessagesSql(
      'deliverWebhook',
      `'${DELIVERY_PREFIX}' || rut || ':' || id, jsonb_build_object('deliveryId', id, 'delays', ?::jsonb),
       jsonb_build_object('EnterpriseRut', rut, 'Environment', environment, 'State', 'PENDING',
         'DeliveryEvent', '${CFE_UPDATED}'), ?::timestamptz`,
    )}
    from hearing where enabled order by created_at, webhook_id
    returning id)`;

/** Returns the parameters of `moveEventsSql`. */
export const moveEventValues = (now: Date): string[] => {
  const at = now.toISOString();
  return [CFE_UPDATED, at, CFE_UPDATED, at, JSON.stringify(RETRY_DELAYS), at];
};

const CFE_UPDATED = 'cfe.updated' satisfies WebhookEvent['name'];
/** The prefix of the ids of workflows that deliver `cfe.updated`. */
const DELIVERY_PREFIX = newDeliveryWorkflowId({ uuid: '', event: CFE_UPDATED, rut: '' }).slice(0, -1);

/** Records with the open transaction that the authority has become unavailable, or has recovered, at `since`. */
export async function recordAuthorityEvent(
  em: EntityManager,
  environment: Environment,
  status: AuthorityChange,
  since: Date,
): Promise<void> {
  const webhooks = await findSelectingWebhooks(em, 'authority.updated');
  if (webhooks.length === 0) return;
  const event = authorityUpdated(environment, status, since);
  await deliver(em, insertEvent(em, { rut: null, environment }, event, since), webhooks);
}

/** Creates a test event and its delivery to one webhook, with the open transaction. */
export function recordTestEvent(em: EntityManager, webhookId: string, now: Date): Delivery {
  const event = insertEvent(em, { rut: null, environment: 'production' }, webhookTest(webhookId), now);
  return insertDelivery(em, { webhookId, event }, now);
}

/** Builds the body once; every attempt sends these bytes. */
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
 * Runs `change` on an enterprise that the open transaction has locked, and records `enterprise.updated` if it changed
 * the enterprise object.
 */
export async function recordEnterpriseChanges<T>(
  em: EntityManager,
  enterprise: Enterprise,
  now: Date,
  change: () => T | Promise<T>,
): Promise<T> {
  const before = await buildEnterpriseObject(em, enterprise, now);
  const result = await change();
  await em.flush();
  const after = await buildEnterpriseObject(em, enterprise, now);
  const changes = enterpriseChanges(before, after);
  if (Object.keys(changes).length > 0) {
    const about = { rut: enterprise.rut, environment: 'production' as const };
    await recordEvent(em, about, enterpriseUpdated(after, changes), now);
  }
  return result;
}

/** Returns the bodies of events, by id. */
export async function findEventBodies(
  em: EntityManager,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const events = await em.find(Event, { id: { $in: [...ids] } });
  return new Map(events.map(({ id, body }) => [id, body]));
}

// The events of an account in reading order; no other module uses the table account_event.

const POSITIONS_PER_BATCH = 5_000;

/** An event as an account reads it. */
export interface ListedEvent {
  readonly id: string;
  readonly environment: Environment;
  /** The JSON that webhooks receive. */
  readonly body: string;
  /** Its deliveries to webhooks of the account, oldest first. */
  readonly deliveries: readonly {
    readonly id: string;
    readonly webhookId: string;
    readonly status: DeliveryStatus;
  }[];
}

/** A page of events, and the id of the event before the next page; null at the end. */
export interface EventPage {
  readonly events: readonly ListedEvent[];
  readonly next: string | null;
}

/** Lists an event for accounts whose webhooks selected it, with the open transaction. */
async function listForAccounts(
  em: EntityManager,
  { id, name }: Pick<Event, 'id' | 'name'>,
  accountIds: readonly string[],
): Promise<void> {
  if (accountIds.length === 0) return;
  await em.execute(
    `insert into account_event (account_id, event_id, event_name) select unnest(?::uuid[]), ?, ?`,
    [`{${accountIds.join(',')}}`, id, name],
  );
}

/**
 * Returns the position of an event among those of an account; null if the account has not read it or does not have
 * it.
 */
export async function findEventPosition(
  em: EntityManager,
  accountId: string,
  eventId: string,
): Promise<bigint | null> {
  const [row] = await em.execute<{ position: string | null }[]>(
    'select position::text from account_event where account_id = ? and event_id = ?',
    [accountId, eventId],
  );
  return row?.position == null ? null : BigInt(row.position);
}

/**
 * Returns at most `limit` events of an account after a position. Events get positions when first read, once committed:
 * no event ever appears before one that was read (docs/decisions/api.md#readable-events-are-numbered-at-the-first-read).
 */
export async function listEventsAfter(
  em: EntityManager,
  request: { accountId: string; after: bigint; event: SelectableEvent | undefined; limit: number },
): Promise<EventPage> {
  const { accountId, after, limit } = request;
  let rows = await readPositionedAfter(em, request);
  let positioned: LastPosition | null = null;
  if (rows.length <= limit && (await hasUnpositioned(em, accountId))) {
    positioned = await assignPositions(em, accountId);
    rows = await readPositionedAfter(em, request);
  }
  const page = rows.slice(0, limit);
  const ids = page.map(({ id }) => id);
  const deliveries = await readDeliveries(em, accountId, ids);
  const events = page.map((row) => ({ ...row, deliveries: deliveries.get(row.id) ?? [] }));
  if (rows.length > limit) return { events, next: ids.at(-1) ?? null };
  // All events of this batch may have other names, and more may wait.
  return {
    events,
    next: positioned && !positioned.isAll && positioned.position > after ? positioned.eventId : null,
  };
}

function readPositionedAfter(
  em: EntityManager,
  { accountId, after, event, limit }: Parameters<typeof listEventsAfter>[1],
): Promise<Omit<ListedEvent, 'deliveries'>[]> {
  return em.execute(
    `select event.id, event.environment, event.body from account_event one join event on event.id = one.event_id
     where one.account_id = ? and one.position > ?::bigint ${event ? 'and one.event_name = ?' : ''}
     order by one.position limit ?`,
    [accountId, after.toString(), ...(event ? [event] : []), limit + 1],
  );
}

/** The event with the last position, and whether all events of the account have one. */
interface LastPosition {
  readonly eventId: string;
  readonly position: bigint;
  readonly isAll: boolean;
}

async function hasUnpositioned(em: EntityManager, accountId: string): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    'select 1 from account_event where account_id = ? and position is null limit 1',
    [accountId],
  );
  return rows.length > 0;
}

/**
 * Assigns positions to events in the order of listing, which follows their causes. One reader at a time; returns null
 * if the one before left no events.
 */
async function assignPositions(em: EntityManager, accountId: string): Promise<LastPosition | null> {
  return em.transactional(async (one) => {
    await one.execute(`select pg_advisory_xact_lock(hashtextextended('events:' || ?, 0))`, [accountId]);
    const positioned = await one.execute<{ eventId: string; position: string }[]>(
      `with last as (select coalesce(max(position), 0) as position from account_event where account_id = ?),
         fresh as (select id, row_number() over (order by id) as place from (
           select id from account_event where account_id = ? and position is null order by id limit ?) waiting)
       update account_event set position = last.position + fresh.place from last, fresh
       where account_event.id = fresh.id
       returning event_id as "eventId", account_event.position::text as position`,
      [accountId, accountId, POSITIONS_PER_BATCH],
    );
    const isAll = positioned.length < POSITIONS_PER_BATCH;
    return positioned.reduce<LastPosition | null>((last, { eventId, position: text }) => {
      const position = BigInt(text);
      return last && last.position > position ? last : { eventId, position, isAll };
    }, null);
  });
}

async function readDeliveries(
  em: EntityManager,
  accountId: string,
  eventIds: readonly string[],
): Promise<Map<string, ListedEvent['deliveries'][number][]>> {
  if (eventIds.length === 0) return new Map();
  const rows = await em.execute<(ListedEvent['deliveries'][number] & { eventId: string })[]>(
    `select delivery.id, delivery.event_id as "eventId", webhook_id as "webhookId", status
     from delivery join webhook on webhook.id = webhook_id
     where delivery.event_id in (?) and webhook.account_id = ?
     order by delivery.created_at, delivery.id`,
    [[...eventIds], accountId],
  );
  return Map.groupBy(rows, ({ eventId }) => eventId);
}
