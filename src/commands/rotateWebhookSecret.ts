import { SECRET_OVERLAP_MILLISECONDS } from '../domain/webhook.ts';
import { audited } from './steps/audited.ts';
import { madeAlready } from './steps/madeAlready.ts';
import {
  newSecret,
  requireWebhook,
  type WebhookCommandDeps,
  type WebhookWithSecret,
} from './steps/webhook.ts';

/**
 * Gives a webhook a new secret, which is shown this once. The one before signs beside it for 24 hours, one from before
 * that no more. `seen`: `previousSecretUntil` as the caller saw it; where another rotated it since, as a form that is sent
 * twice does, nothing is done (INVALID_INPUT). Refuses an unknown webhook (NOT_FOUND).
 */
export function rotateWebhookSecret(
  deps: WebhookCommandDeps,
  input: { webhookId: string; seen?: Date | null },
): Promise<WebhookWithSecret> {
  const { webhookId } = input;
  return deps.orm.em.fork().transactional(async (em) => {
    const webhook = await requireWebhook(em, webhookId);
    const { accountId } = webhook;
    const until = webhook.previousSecretUntil?.getTime();
    if (input.seen !== undefined && input.seen?.getTime() !== until) throw madeAlready('secret');
    const now = deps.clock();
    const { secret, sealed } = newSecret(deps, { accountId, webhookId });
    webhook.sealedPreviousSecret = webhook.sealedSecret;
    webhook.previousSecretUntil = new Date(now.getTime() + SECRET_OVERLAP_MILLISECONDS);
    webhook.sealedSecret = sealed;
    audited(deps, em, { action: 'webhook.rotate_secret', subject: webhookId, accountId }, now);
    return { webhook, secret };
  });
}
