/** Deliveries as the console lists them: over all webhooks that somebody sees, page by page, however many there are. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { Environment } from '../domain/cfeTypes.ts';
import { EVENT_NAMES, eventRow } from '../domain/events.ts';
import type { DeliveryStatus } from '../domain/webhook.ts';
import { Delivery } from './entities/webhooks.ts';
import type { Seen } from './roles.ts';
import { conditionBuilder, type Fragment, runSql, whereAll } from './sql.ts';

/** Which deliveries: every condition that is given must hold. */
export interface DeliveryListFilter {
  readonly webhookId?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly event?: string | undefined;
  /** The enterprise that the event is about. */
  readonly rut?: string | undefined;
  readonly environment?: Environment | undefined;
  /** The CFE that it is about, by its cfe_id. */
  readonly cfeId?: string | undefined;
  /** Made at this moment or later, and before that one. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** One delivery with what its webhook and its event are. */
export interface ListedDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly url: string;
  /** It cannot be sent to any more. */
  readonly isWebhookRemoved: boolean;
  readonly event: string;
  readonly status: DeliveryStatus;
  readonly createdAt: Date;
  readonly settledAt: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly rut: string | null;
  readonly environment: Environment;
  readonly cfeId: string | null;
  readonly attempts: number;
  /** What the last attempt met with: a status of HTTP, or a word for why there was no answer. */
  readonly lastResult: string | null;
}

/** A place in the list, newest first: the one after which it goes on. */
export interface DeliveryCursor {
  readonly createdAt: string;
  readonly id: string;
}

/** The events that are about one CFE, written out as the index on them has it (event_of_cfe). */
const OF_A_CFE = sql`event.name in (${sql.join(
  EVENT_NAMES.filter((name) => eventRow(name).isOfOneCfe).map((name) => sql.lit(name)),
)})`;
// As text: what JSON may hold and PostgreSQL's cannot must not keep a row from being indexed.
const CFE_ID = sql`substring(event.body from '"cfe_id":[[:space:]]*"([0-9]+-[0-9]+)"')`;

interface Row extends Omit<ListedDelivery, 'createdAt' | 'settledAt' | 'nextAttemptAt'> {
  readonly createdAt: string;
  readonly settledAt: string | null;
  readonly nextAttemptAt: string | null;
}

interface Page {
  readonly after: DeliveryCursor | null;
  readonly limit: number;
}

/** A page of deliveries, newest first. `seen`: the accounts whose webhooks count; null for all. */
export async function listDeliveryPage(
  em: EntityManager,
  seen: Seen,
  filter: DeliveryListFilter,
  page: Page,
): Promise<ListedDelivery[]> {
  const rows = await runSql(em)<Row>`
    select d.id, d.webhook_id as "webhookId", w.account_id as "accountId", a.name as "accountName", w.url,
      w.removed_at is not null as "isWebhookRemoved", d.event_name as event, d.status, d.created_at as "createdAt",
      d.settled_at as "settledAt", d.next_attempt_at as "nextAttemptAt", event.rut, event.environment,
      case when ${OF_A_CFE} then ${CFE_ID} end as "cfeId", coalesce(last.number, 0) as attempts,
      coalesce(last.http_status::text, last.error) as "lastResult"
    from (${chosenDeliveries(seen, filter, page)}) chosen join delivery d on d.id = chosen.id
    join webhook w on w.id = d.webhook_id join account a on a.id = w.account_id join event on event.id = d.event_id
    left join lateral (
      select number, http_status, error from delivery_attempt where delivery_id = d.id order by number desc limit 1) last on true
    order by d.created_at desc, d.id desc`;
  return rows.map((row) => ({
    ...row,
    createdAt: new Date(row.createdAt),
    settledAt: dateOf(row.settledAt),
    nextAttemptAt: dateOf(row.nextAttemptAt),
  }));
}

/** The newest deliveries of all webhooks. */
export async function listDeliveries(
  em: EntityManager,
  filter: DeliveryListFilter,
  limit: number,
): Promise<Delivery[]> {
  const rows = await runSql(em)<{ id: string }>`${chosenDeliveries(null, filter, { after: null, limit })}`;
  return em.find(
    Delivery,
    { id: { $in: rows.map(({ id }) => id) } },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
}

/** The place of a delivery in the list. */
export const deliveryCursor = ({ createdAt, id }: ListedDelivery): DeliveryCursor => ({
  createdAt: createdAt.toISOString(),
  id,
});

const dateOf = (value: string | null): Date | null => (value === null ? null : new Date(value));

const webhook = conditionBuilder<'webhook'>();
const delivery = conditionBuilder<'delivery'>();
const about = conditionBuilder<'event'>();

/**
 * The rows of a page. Of an enterprise or a CFE its events are the way in, of accounts each of their webhooks: an account whose last
 * delivery is long ago is as quick as one that has them all the time.
 */
function chosenDeliveries(seen: Seen, filter: DeliveryListFilter, { after, limit }: Page): Fragment {
  const { webhookId, status, event, rut, environment, cfeId, from, to } = filter;
  const isOwn = webhookId !== undefined || seen !== null;
  const own = whereAll(
    webhook.and({ 'webhook.id': webhookId }),
    seen !== null && sql`webhook.account_id = any (${seen}::uuid[])`,
  );
  const ofEvent = whereAll(
    about.and({ 'event.rut': rut, 'event.environment': environment }),
    cfeId !== undefined && sql`${OF_A_CFE} and ${CFE_ID} = ${cfeId}`,
  );
  const ofDelivery = whereAll(
    delivery.and({ 'delivery.status': status }),
    event !== undefined && sql`delivery.event_name = ${event}`,
  );
  const newestFirst = sql`order by delivery.created_at desc, delivery.id desc limit ${limit}`;
  const isFew = status === 'FAILED' || status === 'PENDING';
  if (rut !== undefined && !isFew) {
    const events = whereAll(
      ofEvent,
      from && about('event.created_at', '>=', from),
      to && about('event.created_at', '<', to),
      // A delivery is made with its event and is of its moment.
      after && sql`event.created_at <= ${after.createdAt}`,
      after && sql`(event.created_at, delivery.id) < (${after.createdAt}, ${after.id})`,
    );
    // The fence keeps the events in front: of no other is a delivery read.
    return sql`select delivery.id from event cross join lateral (
        select delivery.id from delivery join webhook on webhook.id = delivery.webhook_id
        where delivery.event_id = event.id and ${own} and ${ofDelivery} offset 0) delivery
      where ${events} order by event.created_at desc, delivery.id desc limit ${limit}`;
  }
  const wanted = whereAll(
    ofDelivery,
    from && delivery('delivery.created_at', '>=', from),
    to && delivery('delivery.created_at', '<', to),
    after && sql`(delivery.created_at, delivery.id) < (${after.createdAt}, ${after.id})`,
  );
  if (rut !== undefined || environment !== undefined || cfeId !== undefined)
    return sql`select delivery.id from event join delivery on delivery.event_id = event.id
        join webhook on webhook.id = delivery.webhook_id
      where ${ofEvent} and ${own} and ${wanted} ${newestFirst}`;
  // Those that wait are few of all; those of one event are read by webhook.
  if (isOwn && status === 'PENDING')
    return sql`select delivery.id from delivery
      where ${wanted} and coalesce(delivery.webhook_id in (select id from webhook where ${own}), false) ${newestFirst}`;
  if (!isOwn && (event === undefined || isFew))
    return sql`select delivery.id from delivery where ${wanted} ${newestFirst}`;
  return sql`select delivery.id from webhook cross join lateral (
      select id, created_at from delivery where webhook_id = webhook.id and ${wanted} ${newestFirst}) delivery
    where ${own} ${newestFirst}`;
}
