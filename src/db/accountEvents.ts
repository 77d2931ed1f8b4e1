/** The events of an account, in the order in which it reads them: the only module that knows the table account_event. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import type { DeliveryStatus, SelectableEvent } from '../domain/webhook.ts';
import type { Event } from './entities/Event.ts';

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
export async function listForAccounts(
  em: EntityManager,
  { id, name }: Pick<Event, 'id' | 'name'>,
  accountIds: readonly string[],
): Promise<void> {
  if (accountIds.length === 0) return;
  await em.execute(
    `insert into account_event (account_id, event_id, event_name) select unnest(?::uuid[]), ?, ? on conflict do nothing`,
    [`{${accountIds.join(',')}}`, id, name],
  );
}

/** The place of an event among those of an account; null for one that it has not read, has not, or has no more. */
export async function placeOf(em: EntityManager, accountId: string, eventId: string): Promise<bigint | null> {
  const [row] = await em.execute<{ position: string | null }[]>(
    'select position::text from account_event where account_id = ? and event_id = ?',
    [accountId, eventId],
  );
  return row?.position == null ? null : BigInt(row.position);
}

/**
 * The events of an account behind a place, at most `limit`. An event gets its place, the next of the account, when it is
 * first looked for: it is committed by then, so nothing ever comes before what was read
 * (docs/decisions/0045-events-to-read.md).
 */
export async function eventsAfter(
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
  { accountId, after, event, limit }: Parameters<typeof eventsAfter>[1],
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
 * Gives places to events of an account that have none, in the order in which they were listed: what is told because of
 * an earlier event is listed after it. One reader at a time does it, and sees what the one before has done. Null where
 * that one left nothing.
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
