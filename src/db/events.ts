import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuthorityChange } from '../domain/authorityStatus.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { enterpriseChanges } from '../domain/enterpriseObject.ts';
import { eventRow, type SelectableEvent } from '../domain/events.ts';
import { type DeliveryStatus, RETRY_DELAYS } from '../domain/webhook.ts';
import {
  authorityUpdated,
  enterpriseUpdated,
  eventBody,
  type WebhookEvent,
  webhookTest,
} from '../domain/webhookEvents.ts';
import { newDeliveryWorkflowId } from '../temporal.ts';
import { insertDelivery } from './deliveries.ts';
import { buildEnterpriseObject } from './enterprises.ts';
import type { Enterprise } from './entities/enterprises.ts';
import { type Delivery, Event } from './entities/webhooks.ts';
import { insertMessagesSql } from './outbox.ts';
import {
  findSelectingWebhooks,
  findSubscribedWebhooks,
  type SelectingWebhook,
  subscribedWebhooksSql,
} from './webhooks.ts';

/**
 * Stores an event of an enterprise with the open transaction, with its deliveries and for its accounts to read: no change
 * without its event. `accountId`: that account alone is told. Events of which a CFE has several need a webhook that selects them.
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
  await tell(em, insertEvent(em, about, event, now), webhooks);
}

/** Puts an event on its way to the webhooks that selected it, and lists it for their accounts. */
async function tell(em: EntityManager, event: Event, webhooks: readonly SelectingWebhook[]): Promise<void> {
  for (const { id, enabled } of webhooks) {
    if (enabled) insertDelivery(em, { webhookId: id, event }, event.createdAt);
  }
  await listForAccounts(em, event, [...new Set(webhooks.map(({ accountId }) => accountId))]);
}

/**
 * The part of a statement that stores and tells that CFEs have moved on, to the webhooks that hear of it. `moved`: a CTE
 * with id, rut, environment and `body`, which the receivers get. Its parameters: `moveEventValues`.
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

/** The values of `moveEventsSql`. */
export const moveEventValues = (now: Date): string[] => {
  const at = now.toISOString();
  return [CFE_UPDATED, at, CFE_UPDATED, at, JSON.stringify(RETRY_DELAYS), at];
};

const CFE_UPDATED = 'cfe.updated' satisfies WebhookEvent['name'];
/** How the ids of the workflows begin that tell of a CFE. */
const DELIVERY_PREFIX = newDeliveryWorkflowId({ uuid: '', event: CFE_UPDATED, rut: '' }).slice(0, -1);

/** Stores and tells in the open transaction that the authority is away since then, or answers again. */
export async function recordAuthorityEvent(
  em: EntityManager,
  environment: Environment,
  status: AuthorityChange,
  since: Date,
): Promise<void> {
  const webhooks = await findSelectingWebhooks(em, 'authority.updated');
  if (webhooks.length === 0) return;
  const event = authorityUpdated(environment, status, since);
  await tell(em, insertEvent(em, { rut: null, environment }, event, since), webhooks);
}

/** Puts a test on its way to one webhook, with the open transaction. */
export function recordTestEvent(em: EntityManager, webhookId: string, now: Date): Delivery {
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

/** The bodies of events, by their ids. */
export async function findEventBodies(
  em: EntityManager,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const events = await em.find(Event, { id: { $in: [...ids] } });
  return new Map(events.map(({ id, body }) => [id, body]));
}

// The events of an account, in the order in which it reads them; nothing else knows the table account_event.

/** So many events get their places at a time. */
const PLACED_AT_ONCE = 5_000;

/** An event as an account reads it. */
export interface ListedEvent {
  readonly id: string;
  readonly environment: Environment;
  /** The JSON that webhooks get. */
  readonly body: string;
  /** Its ways to the webhooks of the account, the oldest first. */
  readonly deliveries: readonly {
    readonly id: string;
    readonly webhookId: string;
    readonly status: DeliveryStatus;
  }[];
}

/** A page of events, and the id of the event after which the next one begins; null where there is no more yet. */
export interface EventPage {
  readonly events: readonly ListedEvent[];
  readonly next: string | null;
}

/** Lists an event for the accounts whose webhooks selected it, with the open transaction. */
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

/** The place of an event among those of an account; null for one that it has not read, has not, or has no more. */
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
 * The events of an account behind a place, at most `limit`. An event gets its place when it is first looked for, and so is
 * committed: nothing ever comes before what was read
 * (docs/decisions/api.md#readable-events-are-numbered-at-the-first-read).
 */
export async function listEventsAfter(
  em: EntityManager,
  asked: { accountId: string; after: bigint; event: SelectableEvent | undefined; limit: number },
): Promise<EventPage> {
  const { accountId, after, limit } = asked;
  let rows = await placedAfter(em, asked);
  let placed: PlacedLast | null = null;
  if (rows.length <= limit && (await someWait(em, accountId))) {
    placed = await placeMore(em, accountId);
    rows = await placedAfter(em, asked);
  }
  const page = rows.slice(0, limit);
  const ids = page.map(({ id }) => id);
  const deliveries = await deliveriesOf(em, accountId, ids);
  const events = page.map((row) => ({ ...row, deliveries: deliveries.get(row.id) ?? [] }));
  if (rows.length > limit) return { events, next: ids.at(-1) ?? null };
  // Those that have their places now may all be of other names, and more may wait.
  return { events, next: placed && !placed.isAll && placed.position > after ? placed.eventId : null };
}

function placedAfter(
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

/** The event that got the last place, and whether none is without one. */
interface PlacedLast {
  readonly eventId: string;
  readonly position: bigint;
  readonly isAll: boolean;
}

/** Whether events of an account have no place yet. */
async function someWait(em: EntityManager, accountId: string): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    'select 1 from account_event where account_id = ? and position is null limit 1',
    [accountId],
  );
  return rows.length > 0;
}

/**
 * Gives places to events of an account that have none, in the order of listing: what follows from an event is listed after
 * it. One reader at a time; null where the one before left nothing.
 */
async function placeMore(em: EntityManager, accountId: string): Promise<PlacedLast | null> {
  return em.transactional(async (one) => {
    await one.execute(`select pg_advisory_xact_lock(hashtextextended('events:' || ?, 0))`, [accountId]);
    const placed = await one.execute<{ eventId: string; position: string }[]>(
      `with last as (select coalesce(max(position), 0) as position from account_event where account_id = ?),
         fresh as (select id, row_number() over (order by id) as place from (
           select id from account_event where account_id = ? and position is null order by id limit ?) waiting)
       update account_event set position = last.position + fresh.place from last, fresh
       where account_event.id = fresh.id
       returning event_id as "eventId", account_event.position::text as position`,
      [accountId, accountId, PLACED_AT_ONCE],
    );
    const isAll = placed.length < PLACED_AT_ONCE;
    return placed.reduce<PlacedLast | null>((last, { eventId, position: text }) => {
      const position = BigInt(text);
      return last && last.position > position ? last : { eventId, position, isAll };
    }, null);
  });
}

async function deliveriesOf(
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
