import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { isUuid } from '../../domain/values/uuid.ts';
import { Account } from '../entities/people.ts';
import { Webhook } from '../entities/webhooks.ts';
import { type ListPage, newestFirst } from '../page.ts';
import { ofAccounts, type ViewerAccounts } from '../people/roles.ts';
import { millisecondsSql } from '../sql.ts';
import { waitsForRetrySql } from './deliveries.ts';

/** Returns the webhook with this id, removed or not, or null. */
export async function findWebhook(em: EntityManager, id: string): Promise<Webhook | null> {
  return isUuid(id) ? em.findOne(Webhook, { id }) : null;
}

/**
 * Returns the webhook with this id, locked until the open transaction ends; null if it does not exist or was removed.
 */
export async function lockWebhook(em: EntityManager, id: string): Promise<Webhook | null> {
  if (!isUuid(id)) return null;
  return em.findOne(
    Webhook,
    { id, removedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
}

/** Returns the webhooks of an account that were not removed, oldest first. */
export function listWebhooks(em: EntityManager, accountId: string): Promise<Webhook[]> {
  return em.find(Webhook, { accountId, removedAt: null }, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** A webhook that selected an event, which its account may therefore read. */
export interface SelectingWebhook {
  readonly id: string;
  readonly accountId: string;
  /** Whether the event is delivered to it. */
  readonly enabled: boolean;
}

/**
 * Returns the webhooks that selected an event of an enterprise, of accounts that are OWNER or MEMBER there
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

/** Returns the webhooks that selected an event: of one account, or of all. */
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
 * SQL from `from` on that selects those webhooks as `w`. Parameters: the event and, unless `rut` is an expression of
 * the statement, the RUT twice.
 */
export const subscribedWebhooksSql = (rut: string): string =>
  `from webhook w
   where w.removed_at is null and ?::text = any (w.events) and w.account_id in (
     select e.owner_account_id from enterprise e where e.rut = ${rut}
     union all
     select g.account_id from enterprise_grant g where g.rut = ${rut} and g.role = 'MEMBER')`;

// Webhooks in the console's lists, with their success rates.

/** A webhook with the name of its account and its recent results. */
export interface ListedWebhook {
  readonly webhook: Webhook;
  readonly accountName: string;
  readonly health: WebhookHealth;
}

export const WEBHOOK_ORDER = newestFirst('uuid');

/** Returns a page of webhooks that were not removed, newest first. `accounts`: of these accounts; null: of all. */
export async function listWebhookPage(
  em: EntityManager,
  accounts: ViewerAccounts,
  { after, limit, now }: ListPage & { now: Date },
): Promise<ListedWebhook[]> {
  const webhooks = await em.find(
    Webhook,
    { removedAt: null, ...ofAccounts(accounts), ...WEBHOOK_ORDER.after(after) },
    { orderBy: WEBHOOK_ORDER.orderBy, limit },
  );
  const owners = await em.find(Account, { id: { $in: webhooks.map(({ accountId }) => accountId) } });
  const names = new Map(owners.map(({ id, name }) => [id, name]));
  const ids = webhooks.map(({ id }) => id);
  const results = await readWebhookHealth(em, ids, now);
  return webhooks.flatMap((webhook) => {
    const health = results.get(webhook.id);
    return health ? [{ webhook, accountName: names.get(webhook.accountId) ?? '', health }] : [];
  });
}

/** Results of a webhook's deliveries in a period. */
export interface DeliveryRate {
  /** Deliveries that have ended. */
  readonly ended: number;
  readonly failed: number;
}

/** The recent results of a webhook. */
export interface WebhookHealth {
  readonly day: DeliveryRate;
  readonly week: DeliveryRate;
  /** Deliveries that failed and wait for their next retry. */
  readonly retried: number;
  /** Creation time of the oldest failed delivery that was not resent. */
  readonly oldestFailed: Date | null;
}

/** A rate covers at most this many of the newest deliveries: more would be slow to count and show nothing else. */
const SAMPLE = 1_000;

/** Returns the recent results of webhooks, by id. */
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

/** Returns the webhooks of accounts that were not removed, by URL: each account has few. */
export function listWebhooksOfAccounts(em: EntityManager, accountIds: readonly string[]): Promise<Webhook[]> {
  return em.find(
    Webhook,
    { accountId: { $in: [...accountIds] }, removedAt: null },
    { orderBy: { url: 'asc', id: 'asc' } },
  );
}
