/** Webhooks as the console lists them, with how their deliveries fare. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { milliseconds } from './clock.ts';
import { Account } from './entities/Account.ts';
import { Webhook } from './entities/Webhook.ts';
import type { Seen } from './visibleTo.ts';

/** A webhook with the name of its account. */
export interface ListedWebhook {
  readonly webhook: Webhook;
  readonly accountName: string;
}

/** A place in the list: the one after which it goes on. */
export interface WebhookPlace {
  readonly createdAt: string;
  readonly id: string;
}

/** A page of webhooks that were not removed, newest first. `seen`: of these accounts; null for all. */
export async function webhookPage(
  em: EntityManager,
  seen: Seen,
  { after, limit }: { after: WebhookPlace | null; limit: number },
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
export interface Rate {
  /** Those that have ended. */
  readonly ended: number;
  readonly failed: number;
}

/** How a webhook fares. */
export interface WebhookFare {
  readonly day: Rate;
  readonly week: Rate;
  /** When the oldest delivery was made that failed and was not sent again. */
  readonly oldestFailed: Date | null;
}

/** A rate is that of at most so many deliveries, the newest: more would tell nothing else and take long to count. */
const SAMPLE = 1_000;

/** How webhooks fare, by id. */
export async function webhookFares(
  em: EntityManager,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, WebhookFare>> {
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
    oldest: number | null;
  }
  const ago = (days: number): Date => new Date(now.getTime() - days * 86_400_000);
  const rows = await em.execute<Row[]>(
    `select w.id, day.ended as "dayEnded", day.failed as "dayFailed", week.ended as "weekEnded", week.failed as "weekFailed",
       (select ${milliseconds('created_at')} from delivery where webhook_id = w.id and status = 'FAILED'
        order by created_at, id limit 1) as oldest
     from unnest(?::uuid[]) w (id) ${rate('day')} ${rate('week')}`,
    [`{${ids.join(',')}}`, ago(1), ago(7)],
  );
  return new Map(
    rows.map(({ id, dayEnded, dayFailed, weekEnded, weekFailed, oldest }) => [
      id,
      {
        day: { ended: dayEnded, failed: dayFailed },
        week: { ended: weekEnded, failed: weekFailed },
        oldestFailed: oldest === null ? null : new Date(oldest),
      },
    ]),
  );
}

/** The webhooks of accounts that were not removed, by address: there are few of each. */
export function listWebhooksOf(em: EntityManager, accountIds: readonly string[]): Promise<Webhook[]> {
  return em.find(
    Webhook,
    { accountId: { $in: [...accountIds] }, removedAt: null },
    { orderBy: { url: 'asc', id: 'asc' } },
  );
}
