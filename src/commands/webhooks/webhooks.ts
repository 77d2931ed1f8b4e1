import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../crypto/sealed.ts';
import { createWebhookSecret } from '../../crypto/webhookSecret.ts';
import { type Delivery, Webhook } from '../../db/entities/webhooks.ts';
import { lockAccount } from '../../db/people/accounts.ts';
import { recordTestEvent } from '../../db/webhooks/events.ts';
import { findWebhook, listWebhooks, lockWebhook } from '../../db/webhooks/webhooks.ts';
import { USUAL_CAPS } from '../../domain/people/caps.ts';
import { SELECTABLE_EVENTS, type SelectableEvent } from '../../domain/webhooks/events.ts';
import { SECRET_OVERLAP_MILLISECONDS, webhookUrlFaults } from '../../domain/webhooks/webhook.ts';
import { type Fault, invalidInput, Refusal } from '../../errors.ts';
import { alreadyCreated } from '../steps/alreadyCreated.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** Dependencies of webhook commands, beyond those of all commands. */
export interface WebhookCommandDeps extends CommandDeps {
  readonly sealer: Sealer;
  /** Whether receivers on this machine are allowed: in development only. */
  readonly localReceivers: boolean;
}

/** A webhook with its secret, which is shown only this once. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

/** Returns the webhook, locked. Throws NOT_FOUND for an unknown or removed one. */
async function requireWebhook(em: EntityManager, webhookId: string): Promise<Webhook> {
  const webhook = await lockWebhook(em, webhookId);
  if (!webhook) throw new Refusal('NOT_FOUND', `There is no webhook ${webhookId}.`);
  return webhook;
}

/** Returns the events without duplicates. Throws INVALID_INPUT for an invalid address or unknown events. */
function checkWebhook(
  { localReceivers }: WebhookCommandDeps,
  { url, events }: { url?: string | undefined; events?: readonly string[] | undefined },
): { events: SelectableEvent[] } {
  const faults = [
    ...(url === undefined ? [] : webhookUrlFaults(url, { localReceivers })),
    ...(events === undefined ? [] : eventFaults(events)),
  ];
  if (faults.length > 0) throw invalidInput(faults);
  return { events: SELECTABLE_EVENTS.filter((name) => events?.includes(name)) };
}

function eventFaults(events: readonly string[]): Fault[] {
  const known = SELECTABLE_EVENTS.join(', ');
  if (events.length === 0) {
    return [
      {
        path: '/events',
        code: 'webhook.events.none',
        message: `events: at least one of ${known} must be given.`,
      },
    ];
  }
  return events.flatMap((event, i) =>
    SELECTABLE_EVENTS.some((name) => name === event)
      ? []
      : [
          {
            path: `/events/${i}`,
            code: 'webhook.events.unknown',
            message: `events[${i}]: must be one of ${known}, found ${JSON.stringify(event.slice(0, 40))}.`,
          },
        ],
  );
}

/** Creates a webhook secret; returns it as shown and as stored. */
function newSecret(
  { sealer }: WebhookCommandDeps,
  { accountId, webhookId }: { accountId: string; webhookId: string },
): { secret: string; sealed: string } {
  const secret = createWebhookSecret();
  const bytes = Buffer.from(secret, 'utf8');
  const sealed = sealer.seal(bytes, {
    purpose: 'webhook-secret',
    accountId,
    rowId: webhookId,
  });
  bytes.fill(0);
  return { secret, sealed };
}

/**
 * Adds a webhook that is notified of the selected events from now on; returns it with its secret, shown only
 * this once. Throws NOT_FOUND for an unknown account, and INVALID_INPUT for an invalid address, unknown
 * events, a `webhookId` already used, or more webhooks than an account may have.
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
      const message = `The account has ${most} webhooks, the maximum (CFE_MOST_WEBHOOKS); remove one first.`;
      throw invalidInput([{ path: '', code: 'webhook.too_many', message }]);
    }
    const now = deps.clock();
    const id = input.webhookId ?? randomUUID();
    if (input.webhookId !== undefined && (await findWebhook(em, id))) throw alreadyCreated('webhook');
    const { secret, sealed } = newSecret(deps, { accountId, webhookId: id });
    const webhook = em.create(Webhook, {
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
    auditAct(deps, em, { action: 'webhook.add', subject: id, accountId }, now);
    return { webhook, secret };
  });
}

/**
 * Sets fields of a webhook. Pending deliveries go to the new address; disabling stops only new events. Throws NOT_FOUND for
 * an unknown webhook, INVALID_INPUT for an invalid address or unknown events.
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
    auditAct(deps, em, { action: 'webhook.update', subject: webhookId, accountId }, deps.clock());
    return webhook;
  });
}

/**
 * Removes a webhook: pending deliveries become FAILED at their next attempt; they stay for the record. Throws
 * NOT_FOUND for an unknown webhook.
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
    auditAct(deps, em, { action: 'webhook.remove', subject: webhookId, accountId: webhook.accountId }, now);
  });
}

/**
 * Gives a webhook a new secret, shown only this once; the previous one also signs for 24 hours. `seen` is the
 * caller's `previousSecretUntil`: throws INVALID_INPUT when the secret was rotated since, as by a form sent
 * twice; NOT_FOUND for an unknown webhook.
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
    if (input.seen !== undefined && input.seen?.getTime() !== until) throw alreadyCreated('secret');
    const now = deps.clock();
    const { secret, sealed } = newSecret(deps, { accountId, webhookId });
    webhook.sealedPreviousSecret = webhook.sealedSecret;
    webhook.previousSecretUntil = new Date(now.getTime() + SECRET_OVERLAP_MILLISECONDS);
    webhook.sealedSecret = sealed;
    auditAct(deps, em, { action: 'webhook.rotate_secret', subject: webhookId, accountId }, now);
    return { webhook, secret };
  });
}

/**
 * Sends `webhook.test` as an ordinary delivery, whatever events are selected and even when disabled. Throws
 * NOT_FOUND for an unknown webhook.
 */
export async function testWebhook(deps: WebhookCommandDeps, input: { webhookId: string }): Promise<Delivery> {
  const { webhookId } = input;
  const delivery = await deps.orm.em.fork().transactional(async (em) => {
    const { accountId } = await requireWebhook(em, webhookId);
    const now = deps.clock();
    auditAct(deps, em, { action: 'webhook.test', subject: webhookId, accountId }, now);
    return recordTestEvent(em, webhookId, now);
  });
  deps.outbox.scheduleDispatch();
  return delivery;
}
