import type { Delivery } from '../db/entities/Delivery.ts';
import { recordTest } from '../db/events.ts';
import { audited } from './steps/audited.ts';
import { requireWebhook, type WebhookCommandDeps } from './steps/webhook.ts';

/**
 * Sends `webhook.test` to a receiver, whatever events are selected and even where it is disabled, in the way of every
 * delivery. Refuses an unknown webhook (NOT_FOUND).
 */
export async function testWebhook(deps: WebhookCommandDeps, input: { webhookId: string }): Promise<Delivery> {
  const { webhookId } = input;
  const delivery = await deps.orm.em.fork().transactional(async (em) => {
    const { accountId } = await requireWebhook(em, webhookId);
    const now = deps.clock();
    audited(deps, em, { action: 'webhook.test', subject: webhookId, accountId }, now);
    return recordTest(em, webhookId, now);
  });
  deps.outbox.dispatchSoon();
  return delivery;
}
