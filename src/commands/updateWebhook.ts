import type { Webhook } from '../db/entities/Webhook.ts';
import { audited } from './steps/audited.ts';
import { checkWebhook, requireWebhook, type WebhookCommandDeps } from './steps/webhook.ts';

/**
 * Sets what is given of a webhook's address, events and whether it is enabled. Deliveries under way go to the new
 * address; disabling holds back new events only. Refuses an unknown one (NOT_FOUND), a bad address, and events that are
 * none (INVALID_INPUT).
 */
export function updateWebhook(
  deps: WebhookCommandDeps,
  input: {
    webhookId: string;
    url?: string | undefined;
    events?: readonly string[] | undefined;
    enabled?: boolean | undefined;
  },
): Promise<Webhook> {
  const { webhookId, url, enabled } = input;
  const { events } = checkWebhook(deps, input);
  return deps.orm.em.fork().transactional(async (em) => {
    const webhook = await requireWebhook(em, webhookId);
    if (url !== undefined) webhook.url = url;
    if (input.events !== undefined) webhook.events = events;
    if (enabled !== undefined) {
      webhook.enabled = enabled;
      webhook.disabledReason = null;
    }
    const { accountId } = webhook;
    audited(deps, em, { action: 'webhook.update', subject: webhookId, accountId }, deps.clock());
    return webhook;
  });
}
