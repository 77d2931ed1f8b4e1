/** Deliveries as the console lists them: over all webhooks that somebody sees, page by page, however many there are. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../domain/cfeTypes.ts';
import type { DeliveryStatus } from '../domain/webhook.ts';
import { milliseconds } from './clock.ts';
import type { Seen } from './visibleTo.ts';

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
export interface DeliveryPlace {
  readonly createdAt: string;
  readonly id: string;
}

interface Piece {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The events that are about one CFE, as the index on them has it. */
const OF_A_CFE = `event.name in ('cfe.updated', 'receipt.delivered', 'receipt.failed')`;
// As text: what JSON may hold and PostgreSQL's cannot must not keep a row from being indexed.
const CFE_ID = `substring(event.body from '"cfe_id":[[:space:]]*"([0-9]+-[0-9]+)"')`;
const NEWEST_FIRST = 'order by delivery.created_at desc, delivery.id desc limit ?';

/** A page of deliveries, newest first. `seen`: the accounts whose webhooks count; null for all. */
export async function deliveryPage(
  em: EntityManager,
  seen: Seen,
  filter: DeliveryListFilter,
  page: { after: DeliveryPlace | null; limit: number },
): Promise<ListedDelivery[]> {
  const chosen = chosenDeliveries(seen, filter, page);
  const rows = await em.execute<Record<string, unknown>[]>(
    `select d.id, d.webhook_id as "webhookId", w.account_id as "accountId", a.name as "accountName", w.url,
       w.removed_at is not null as "isWebhookRemoved",
       d.event_name as event, d.status, d.created_at::text as "createdAt", ${milliseconds('d.settled_at')} as "settledAt",
       ${milliseconds('d.next_attempt_at')} as "nextAttemptAt", event.rut, event.environment,
       case when ${OF_A_CFE} then ${CFE_ID} end as "cfeId", coalesce(last.number, 0) as attempts,
       coalesce(last.http_status::text, last.error) as "lastResult"
     from (${chosen.sql}) chosen join delivery d on d.id = chosen.id
     join webhook w on w.id = d.webhook_id join account a on a.id = w.account_id join event on event.id = d.event_id
     left join lateral (
       select number, http_status, error from delivery_attempt where delivery_id = d.id order by number desc limit 1) last on true
     order by d.created_at desc, d.id desc`,
    [...chosen.values],
  );
  return rows.map(
    (row) =>
      ({
        ...row,
        createdAt: new Date(String(row['createdAt'])),
        settledAt: dateOf(row['settledAt']),
        nextAttemptAt: dateOf(row['nextAttemptAt']),
      }) as ListedDelivery,
  );
}

/** The place of a delivery in the list. */
export const placeOf = ({ createdAt, id }: ListedDelivery): DeliveryPlace => ({
  createdAt: createdAt.toISOString(),
  id,
});

const dateOf = (value: unknown): Date | null => (value === null ? null : new Date(Number(value)));

/**
 * The rows of a page. Of an enterprise or a CFE its events are the way in, of accounts each of their webhooks: an account whose last
 * delivery is long ago is as quick as one that has them all the time.
 */
function chosenDeliveries(
  seen: Seen,
  filter: DeliveryListFilter,
  { after, limit }: { after: DeliveryPlace | null; limit: number },
): Piece {
  const own = together([
    filter.webhookId !== undefined && { sql: 'webhook.id = ?', values: [filter.webhookId] },
    seen !== null && { sql: 'webhook.account_id = any (?::uuid[])', values: [`{${seen.join(',')}}`] },
  ]);
  const conditions = together([
    filter.status !== undefined && { sql: 'delivery.status = ?', values: [filter.status] },
    filter.event !== undefined && { sql: 'delivery.event_name = ?', values: [filter.event] },
    filter.from && { sql: 'delivery.created_at >= ?', values: [filter.from] },
    filter.to && { sql: 'delivery.created_at < ?', values: [filter.to] },
    after && {
      sql: '(delivery.created_at, delivery.id) < (?::timestamptz, ?::uuid)',
      values: [after.createdAt, after.id],
    },
  ]);
  const about = together([
    filter.rut !== undefined && { sql: 'event.rut = ?', values: [filter.rut] },
    filter.environment !== undefined && { sql: 'event.environment = ?', values: [filter.environment] },
    filter.cfeId !== undefined && { sql: `${OF_A_CFE} and ${CFE_ID} = ?`, values: [filter.cfeId] },
  ]);
  const isFew = filter.status === 'FAILED' || filter.status === 'PENDING';
  if (filter.rut !== undefined && !isFew) return deliveriesOfEvents({ about, own, filter, after, limit });
  if (about.values.length > 0) {
    return {
      sql: `select delivery.id from event join delivery on delivery.event_id = event.id join webhook on webhook.id = delivery.webhook_id
        where ${about.sql} and ${own.sql} and ${conditions.sql} ${NEWEST_FIRST}`,
      values: [...about.values, ...own.values, ...conditions.values, limit],
    };
  }
  // Those that wait are few of all; those of one event are read by webhook.
  const isOwnAmongFew = filter.status === 'PENDING' && own.values.length > 0;
  if (isOwnAmongFew || (own.values.length === 0 && (filter.event === undefined || isFew))) {
    const among = isOwnAmongFew
      ? `coalesce(delivery.webhook_id in (select id from webhook where ${own.sql}), false)`
      : 'true';
    return {
      sql: `select delivery.id from delivery where ${conditions.sql} and ${among} ${NEWEST_FIRST}`,
      values: [...conditions.values, ...own.values, limit],
    };
  }
  return {
    sql: `select delivery.id from webhook cross join lateral (
        select id, created_at from delivery where webhook_id = webhook.id and ${conditions.sql} ${NEWEST_FIRST}) delivery
      where ${own.sql} ${NEWEST_FIRST}`,
    values: [...conditions.values, limit, ...own.values, limit],
  };
}

/** Along the events of an enterprise, newest first: a delivery is made with its event and is of its moment. */
function deliveriesOfEvents({
  about,
  own,
  filter,
  after,
  limit,
}: {
  about: Piece;
  own: Piece;
  filter: DeliveryListFilter;
  after: DeliveryPlace | null;
  limit: number;
}): Piece {
  const events = together([
    about,
    filter.from && { sql: 'event.created_at >= ?', values: [filter.from] },
    filter.to && { sql: 'event.created_at < ?', values: [filter.to] },
    after && { sql: 'event.created_at <= ?::timestamptz', values: [after.createdAt] },
  ]);
  const deliveries = together([
    own,
    filter.status !== undefined && { sql: 'one.status = ?', values: [filter.status] },
    filter.event !== undefined && { sql: 'one.event_name = ?', values: [filter.event] },
  ]);
  const behind = together([
    after && {
      sql: '(event.created_at, delivery.id) < (?::timestamptz, ?::uuid)',
      values: [after.createdAt, after.id],
    },
  ]);
  return {
    // The fence keeps the events in front: of no other is a delivery read.
    sql: `select delivery.id from event cross join lateral (
        select one.id from delivery one join webhook on webhook.id = one.webhook_id
        where one.event_id = event.id and ${deliveries.sql} offset 0) delivery
      where ${events.sql} and ${behind.sql} order by event.created_at desc, delivery.id desc limit ?`,
    values: [...deliveries.values, ...events.values, ...behind.values, limit],
  };
}

function together(pieces: readonly (Piece | false | null | undefined)[]): Piece {
  const given = pieces.filter((piece): piece is Piece => Boolean(piece));
  return {
    sql: given.length === 0 ? 'true' : given.map(({ sql }) => `(${sql})`).join(' and '),
    values: given.flatMap(({ values }) => values),
  };
}
