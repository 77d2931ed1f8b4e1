import { randomUUID } from 'node:crypto';
import { LockMode } from '@mikro-orm/postgresql';
import { requireAccount } from '../db/accounts.ts';
import { Account } from '../db/entities/Account.ts';
import { insertWebhook, listWebhooks } from '../db/webhooks.ts';
import { MOST_WEBHOOKS } from '../domain/webhook.ts';
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
  return deps.orm.em.fork().transactional(async (em) => {
    const { id: accountId } = await requireAccount(em, input.accountId);
    // Callers who add at the same moment wait for one another's lock, so that the count holds.
    await em.findOneOrFail(
      Account,
      { id: accountId },
      { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
    );
    if ((await listWebhooks(em, accountId)).length >= MOST_WEBHOOKS) {
      throw new Refusal(
        'INVALID_INPUT',
        `The account has ${MOST_WEBHOOKS} webhooks already, the maximum; remove one first.`,
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
