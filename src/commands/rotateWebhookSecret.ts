import { SECRET_OVERLAP_MILLISECONDS } from '../domain/webhook.ts';
import { audited } from './steps/audited.ts';
import {
  newSecret,
  requireWebhook,
  type WebhookCommandDeps,
  type WebhookWithSecret,
} from './steps/webhook.ts';

/**
 * Gives a webhook a new secret, which is shown this once. The one before signs beside it for 24 hours, one from before
 * that no more. Refuses an unknown webhook (NOT_FOUND).
 */
export function rotateWebhookSecret(
  deps: WebhookCommandDeps,
  input: { webhookId: string },
): Promise<WebhookWithSecret> {
  const { webhookId } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const webhook = await requireWebhook(em, webhookId);
    const { accountId } = webhook;
    const now = deps.clock();
    const { secret, sealed } = newSecret(deps, { accountId, webhookId });
    webhook.sealedPreviousSecret = webhook.sealedSecret;
    webhook.previousSecretUntil = new Date(now.getTime() + SECRET_OVERLAP_MILLISECONDS);
    webhook.sealedSecret = sealed;
    audited(deps, em, { action: 'webhook.rotate_secret', subject: webhookId, accountId }, now);
    return { webhook, secret };
  });
}
