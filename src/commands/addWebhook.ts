import { randomUUID } from 'node:crypto';
import { lockAccount } from '../db/accounts.ts';
import { insertWebhook, listWebhooks } from '../db/webhooks.ts';
import { USUAL_CAPS } from '../domain/caps.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import { checkWebhook, newSecret, type WebhookCommandDeps, type WebhookWithSecret } from './steps/webhook.ts';

/**
 * Tells a receiver of an account of the selected events from now on; answers the webhook with its secret, which is
 * shown this once. Refuses an unknown account (NOT_FOUND), a bad address, events that are none, and more webhooks than
 * an account may have (INVALID_INPUT).
 */
export function addWebhook(
  deps: WebhookCommandDeps,
  input: { accountId: string; url: string; events: readonly string[] },
): Promise<WebhookWithSecret> {
  const { events } = checkWebhook(deps, input);
  const { webhooks: most } = deps.caps ?? USUAL_CAPS;
  return deps.orm.em.fork().transactional(async (em) => {
    const { id: accountId } = await lockAccount(em, input.accountId);
    if ((await listWebhooks(em, accountId)).length >= most) {
      throw new Refusal(
        'INVALID_INPUT',
        `The account has ${most} webhooks already, the maximum (CFE_MOST_WEBHOOKS); remove one first.`,
      );
    }
    const now = deps.clock();
    const id = randomUUID();
    const { secret, sealed } = newSecret(deps, { accountId, webhookId: id });
    const webhook = insertWebhook(em, {
      id,
      accountId,
      url: input.url,
      events,
      sealedSecret: sealed,
      sealedPreviousSecret: null,
      previousSecretUntil: null,
      enabled: true,
      disabledReason: null,
      createdAt: now,
      removedAt: null,
    });
    audited(deps, em, { action: 'webhook.add', subject: id, accountId }, now);
    return { webhook, secret };
  });
}
