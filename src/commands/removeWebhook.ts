import { audited } from './audited.ts';
import { knownWebhook, type WebhookCommandDeps } from './webhookDeps.ts';

/**
 * Takes a webhook away: it is told of nothing more, and what is under way to it ends FAILED at its next attempt. Its
 * deliveries stay for the record. Refuses an unknown one (NOT_FOUND).
 */
export function removeWebhook(deps: WebhookCommandDeps, input: { webhookId: string }): Promise<void> {
  const { webhookId } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const webhook = await knownWebhook(em, webhookId);
    const now = deps.clock();
    webhook.enabled = false;
    webhook.removedAt = now;
    webhook.sealedPreviousSecret = null;
    webhook.previousSecretUntil = null;
    audited(deps, em, { action: 'webhook.remove', subject: webhookId, accountId: webhook.accountId }, now);
  });
}
