import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { isUuid } from '../domain/uuid.ts';
import type { SelectableEvent } from '../domain/webhook.ts';
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
export async function subscribedWebhooks(
  em: EntityManager,
  { rut, event, accountId = null }: { rut: string; event: string; accountId?: string | null | undefined },
): Promise<SelectingWebhook[]> {
  return em.execute<SelectingWebhook[]>(
    `select w.id, w.account_id as "accountId", w.enabled ${subscribedTo('?')} and w.account_id = coalesce(?, w.account_id) order by w.created_at, w.id`,
    [event, rut, rut, accountId],
  );
}

/** The webhooks of all accounts that selected an event which is about no enterprise. */
export function webhooksSelecting(em: EntityManager, event: SelectableEvent): Promise<SelectingWebhook[]> {
  return em.execute<SelectingWebhook[]>(
    `select id, account_id as "accountId", enabled from webhook
     where removed_at is null and ? = any (events) order by created_at, id`,
    [event],
  );
}

/**
 * The rest of a select of those webhooks (`w`), as part of another statement. Its parameters: the event and, unless
 * `rut` is an expression of that statement, the RUT twice.
 */
export const subscribedTo = (rut: string): string =>
  `from webhook w
   where w.removed_at is null and ? = any (w.events) and w.account_id in (
     select e.owner_account_id from enterprise e where e.rut = ${rut}
     union all
     select g.account_id from enterprise_grant g where g.rut = ${rut} and g.role = 'MEMBER')`;
