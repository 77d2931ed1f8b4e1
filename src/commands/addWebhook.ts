import { randomUUID } from 'node:crypto';
import { lockAccount } from '../db/accounts.ts';
import { findWebhook, insertWebhook, listWebhooks } from '../db/webhooks.ts';
import { USUAL_CAPS } from '../domain/caps.ts';
import { invalidInput } from '../errors.ts';
import { audited } from './steps/audited.ts';
import { madeAlready } from './steps/madeAlready.ts';
import { checkWebhook, newSecret, type WebhookCommandDeps, type WebhookWithSecret } from './steps/webhook.ts';

/**
 * Tells a receiver of an account of the selected events from now on; answers the webhook with its secret, which is
 * shown this once. Refuses an unknown account (NOT_FOUND), a bad address, events that are none, and more webhooks than
 * an account may have (INVALID_INPUT); with a `webhookId` of the caller's own also a second call (INVALID_INPUT).
 */
export function addWebhook(
  deps: WebhookCommandDeps,
  input: { accountId: string; url: string; events: readonly string[]; webhookId?: string },
): Promise<WebhookWithSecret> {
  const { events } = checkWebhook(deps, input);
  const { webhooks: most } = deps.caps ?? USUAL_CAPS;
  return deps.orm.em.fork().transactional(async (em) => {
    const { id: accountId } = await lockAccount(em, input.accountId);
    if ((await listWebhooks(em, accountId)).length >= most) {
      const message = `The account has ${most} webhooks already, the maximum (CFE_MOST_WEBHOOKS); remove one first.`;
      throw invalidInput([{ path: '', code: 'webhook.too_many', message }]);
    }
    const now = deps.clock();
    const id = input.webhookId ?? randomUUID();
    if (input.webhookId !== undefined && (await findWebhook(em, id))) throw madeAlready('webhook');
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
