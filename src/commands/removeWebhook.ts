import { audited } from './steps/audited.ts';
import { requireWebhook, type WebhookCommandDeps } from './steps/webhook.ts';

/**
 * Takes a webhook away: it is told of nothing more, and what is under way to it ends FAILED at its next attempt. Its
 * deliveries stay for the record. Refuses an unknown one (NOT_FOUND).
 */
export function removeWebhook(deps: WebhookCommandDeps, input: { webhookId: string }): Promise<void> {
  const { webhookId } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const webhook = await requireWebhook(em, webhookId);
    const now = deps.clock();
    webhook.enabled = false;
    webhook.removedAt = now;
    webhook.sealedPreviousSecret = null;
    webhook.previousSecretUntil = null;
    audited(deps, em, { action: 'webhook.remove', subject: webhookId, accountId: webhook.accountId }, now);
  });
}
