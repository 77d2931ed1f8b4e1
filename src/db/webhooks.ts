import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { isUuid } from '../domain/uuid.ts';
import { Webhook } from './entities/Webhook.ts';

/** Stores a webhook when the open transaction is flushed. */
export function insertWebhook(em: EntityManager, values: Omit<Webhook, symbol>): Webhook {
  return em.create(Webhook, values);
}

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

/**
 * The ids of the webhooks that get an event of an enterprise: enabled, with the event selected, and of an account that
 * owns the enterprise or is MEMBER there (docs/contract.md#events).
 */
export async function subscribedWebhooks(
  em: EntityManager,
  { rut, event, accountId = null }: { rut: string; event: string; accountId?: string | null | undefined },
): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    `select w.id ${subscribedTo('?')} and w.account_id = coalesce(?, w.account_id) order by w.created_at, w.id`,
    [event, rut, rut, accountId],
  );
  return rows.map(({ id }) => id);
}

/**
 * The rest of a select of those webhooks (`w`), as part of another statement. Its parameters: the event and, unless
 * `rut` is an expression of that statement, the RUT twice.
 */
export const subscribedTo = (rut: string): string =>
  `from webhook w
   where w.enabled and ? = any (w.events) and w.account_id in (
     select e.owner_account_id from enterprise e where e.rut = ${rut}
     union all
     select g.account_id from enterprise_grant g where g.rut = ${rut} and g.role = 'MEMBER')`;
