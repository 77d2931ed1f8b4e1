import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { isUuid } from '../domain/uuid.ts';
import { waitsForRetrySql } from './deliveries.ts';
import { Account } from './entities/people.ts';
import { Webhook } from './entities/webhooks.ts';
import type { Seen } from './roles.ts';
import { millisecondsSql } from './sql.ts';

/** The webhook with this id, removed or not, or null. */
export async function findWebhook(em: EntityManager, id: string): Promise<Webhook | null> {
  return isUuid(id) ? em.findOne(Webhook, { id }) : null;
}

/** The webhook with this id, locked until the open transaction ends; null when there is none, or no more. */
export async function lockWebhook(em: EntityManager, id: string): Promise<Webhook | null> {
  if (!isUuid(id)) return null;
  return em.findOne(
    Webhook,
    { id, removedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
}

/** The webhooks of an account, oldest first, without those that were removed. */
export function listWebhooks(em: EntityManager, accountId: string): Promise<Webhook[]> {
  return em.find(Webhook, { accountId, removedAt: null }, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** A webhook that selected an event, whose account may read it. */
export interface SelectingWebhook {
  readonly id: string;
  readonly accountId: string;
  /** Whether the event is delivered to it. */
  readonly enabled: boolean;
}

/**
 * The webhooks that selected an event of an enterprise, of accounts that own the enterprise or are MEMBER there
 * (docs/contract.md#events).
 */
export async function findSubscribedWebhooks(
  em: EntityManager,
  { rut, event }: { rut: string; event: string },
): Promise<SelectingWebhook[]> {
  return em.execute<SelectingWebhook[]>(
    `select w.id, w.account_id as "accountId", w.enabled ${subscribedWebhooksSql('?')} order by w.created_at, w.id`,
    [event, rut, rut],
  );
}

/** The webhooks that selected an event: of one account, or of all. */
export function findSelectingWebhooks(
  em: EntityManager,
  event: string,
  accountId: string | null = null,
): Promise<SelectingWebhook[]> {
  return em.execute<SelectingWebhook[]>(
    `select id, account_id as "accountId", enabled from webhook
     where removed_at is null and ? = any (events) and account_id = coalesce(?::uuid, account_id) order by created_at, id`,
    [event, accountId],
  );
}

/**
 * The rest of a select of those webhooks (`w`), as part of another statement. Its parameters: the event and, unless
 * `rut` is an expression of that statement, the RUT twice.
 */
export const subscribedWebhooksSql = (rut: string): string =>
  `from webhook w
   where w.removed_at is null and ?::text = any (w.events) and w.account_id in (
     select e.owner_account_id from enterprise e where e.rut = ${rut}
     union all
     select g.account_id from enterprise_grant g where g.rut = ${rut} and g.role = 'MEMBER')`;

// Webhooks as the console lists them, with how their deliveries fare.

/** A webhook with the name of its account. */
export interface ListedWebhook {
  readonly webhook: Webhook;
  readonly accountName: string;
}

/** A place in the list: the one after which it goes on. */
export interface WebhookCursor {
  readonly createdAt: string;
  readonly id: string;
}

/** A page of webhooks that were not removed, newest first. `seen`: of these accounts; null for all. */
export async function listWebhookPage(
  em: EntityManager,
  seen: Seen,
  { after, limit }: { after: WebhookCursor | null; limit: number },
): Promise<ListedWebhook[]> {
  const webhooks = await em.find(
    Webhook,
    {
      removedAt: null,
      ...(seen === null ? {} : { accountId: { $in: [...seen] } }),
      ...(after && {
        $or: [
          { createdAt: { $lt: new Date(after.createdAt) } },
          { createdAt: new Date(after.createdAt), id: { $lt: after.id } },
        ],
      }),
    },
    { orderBy: { createdAt: 'desc', id: 'desc' }, limit },
  );
  const accounts = await em.find(Account, { id: { $in: webhooks.map(({ accountId }) => accountId) } });
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  return webhooks.map((webhook) => ({ webhook, accountName: names.get(webhook.accountId) ?? '' }));
}

/** How the deliveries of a webhook fared in a time. */
export interface DeliveryRate {
  /** Those that have ended. */
  readonly ended: number;
  readonly failed: number;
}

/** How a webhook fares. */
export interface WebhookHealth {
  readonly day: DeliveryRate;
  readonly week: DeliveryRate;
  /** How many were refused and wait for their next retry. */
  readonly retried: number;
  /** When the oldest delivery was made that failed and was not sent again. */
  readonly oldestFailed: Date | null;
}

/** A rate is that of at most so many deliveries, the newest: more would tell nothing else and take long to count. */
const SAMPLE = 1_000;

/** How webhooks fare, by id. */
export async function readWebhookHealth(
  em: EntityManager,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, WebhookHealth>> {
  const rate = (name: string): string => `
    cross join lateral (
      select count(*) filter (where status <> 'PENDING')::int as ended, count(*) filter (where status = 'FAILED')::int as failed
      from (select status from delivery where webhook_id = w.id and created_at > ?
            order by created_at desc, id desc limit ${SAMPLE}) newest) ${name}`;
  interface Row {
    id: string;
    dayEnded: number;
    dayFailed: number;
    weekEnded: number;
    weekFailed: number;
    retried: number;
    oldest: number | null;
  }
  const ago = (days: number): Date => new Date(now.getTime() - days * 86_400_000);
  const rows = await em.execute<Row[]>(
    `select w.id, day.ended as "dayEnded", day.failed as "dayFailed", week.ended as "weekEnded", week.failed as "weekFailed",
       (select count(*)::int from delivery where webhook_id = w.id and ${waitsForRetrySql('delivery')}) as retried,
       (select ${millisecondsSql('created_at')} from delivery where webhook_id = w.id and status = 'FAILED'
        order by created_at, id limit 1) as oldest
     from unnest(?::uuid[]) w (id) ${rate('day')} ${rate('week')}`,
    [`{${ids.join(',')}}`, ago(1), ago(7)],
  );
  return new Map(
    rows.map(({ id, dayEnded, dayFailed, weekEnded, weekFailed, retried, oldest }) => [
      id,
      {
        day: { ended: dayEnded, failed: dayFailed },
        week: { ended: weekEnded, failed: weekFailed },
        retried,
        oldestFailed: oldest === null ? null : new Date(oldest),
      },
    ]),
  );
}

/** The webhooks of accounts that were not removed, by address: there are few of each. */
export function listWebhooksOfAccounts(em: EntityManager, accountIds: readonly string[]): Promise<Webhook[]> {
  return em.find(
    Webhook,
    { accountId: { $in: [...accountIds] }, removedAt: null },
    { orderBy: { url: 'asc', id: 'asc' } },
  );
}
