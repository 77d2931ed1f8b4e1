import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../crypto/sealed.ts';
import { createWebhookSecret } from '../crypto/webhookSecret.ts';
import { lockAccount } from '../db/accounts.ts';
import { type Delivery, Webhook } from '../db/entities/webhooks.ts';
import { recordTestEvent } from '../db/events.ts';
import { findWebhook, listWebhooks, lockWebhook } from '../db/webhooks.ts';
import { USUAL_CAPS } from '../domain/caps.ts';
import { SELECTABLE_EVENTS, type SelectableEvent } from '../domain/events.ts';
import { SECRET_OVERLAP_MILLISECONDS, webhookUrlFaults } from '../domain/webhook.ts';
import { type Fault, invalidInput, Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { madeAlready } from './steps/madeAlready.ts';

/** What commands on webhooks need beside the rest. */
export interface WebhookCommandDeps extends CommandDeps {
  readonly sealer: Sealer;
  /** Whether receivers on this machine are allowed: in development only. */
  readonly localReceivers: boolean;
}

/** A webhook with its secret, which is shown this once. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

/** The webhook with this id, locked; refuses one that is unknown or removed (NOT_FOUND). */
async function requireWebhook(em: EntityManager, webhookId: string): Promise<Webhook> {
  const webhook = await lockWebhook(em, webhookId);
  if (!webhook) throw new Refusal('NOT_FOUND', `There is no webhook ${webhookId}.`);
  return webhook;
}

/** Refuses an address or a choice of events that cannot be (INVALID_INPUT); answers the events, each once. */
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

/** A new secret for a webhook, as it is shown and as it is kept. */
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
    audited(deps, em, { action: 'webhook.add', subject: id, accountId }, now);
    return { webhook, secret };
  });
}

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

/**
 * Sends `webhook.test` to a receiver, whatever events are selected and even where it is disabled, in the way of every
 * delivery. Refuses an unknown webhook (NOT_FOUND).
 */
export async function testWebhook(deps: WebhookCommandDeps, input: { webhookId: string }): Promise<Delivery> {
  const { webhookId } = input;
  const delivery = await deps.orm.em.fork().transactional(async (em) => {
    const { accountId } = await requireWebhook(em, webhookId);
    const now = deps.clock();
    audited(deps, em, { action: 'webhook.test', subject: webhookId, accountId }, now);
    return recordTestEvent(em, webhookId, now);
  });
  deps.outbox.scheduleDispatch();
  return delivery;
}
