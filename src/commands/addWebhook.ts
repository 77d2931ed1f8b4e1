import { randomUUID } from 'node:crypto';
import { LockMode } from '@mikro-orm/postgresql';
import { Account } from '../db/entities/Account.ts';
import { insertWebhook, listWebhooks } from '../db/webhooks.ts';
import { MOST_WEBHOOKS } from '../domain/webhook.ts';
import { Refusal } from '../errors.ts';
import { audited } from './audited.ts';
import { knownAccount } from './knownAccount.ts';
import { checkWebhook, newSecret, type WebhookCommandDeps, type WebhookWithSecret } from './webhookDeps.ts';

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
    const { id: accountId } = await knownAccount(em, input.accountId);
    // Those who add at once take turns, so that the count holds.
    await em.findOneOrFail(
      Account,
      { id: accountId },
      { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
    );
    if ((await listWebhooks(em, accountId)).length >= MOST_WEBHOOKS) {
      throw new Refusal(
        'INVALID_INPUT',
        `The account has ${MOST_WEBHOOKS} webhooks already; remove one first.`,
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
