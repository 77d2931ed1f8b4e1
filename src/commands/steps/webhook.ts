import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../crypto/sealed.ts';
import { createWebhookSecret } from '../../crypto/webhookSecret.ts';
import type { Webhook } from '../../db/entities/Webhook.ts';
import { lockWebhook } from '../../db/webhooks.ts';
import { type SelectableEvent, WEBHOOK_EVENTS, webhookUrlFaults } from '../../domain/webhook.ts';
import { type Fault, invalidInput, Refusal } from '../../errors.ts';
import type { CommandDeps } from './deps.ts';

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
export async function requireWebhook(em: EntityManager, webhookId: string): Promise<Webhook> {
  const webhook = await lockWebhook(em, webhookId);
  if (!webhook) throw new Refusal('NOT_FOUND', `There is no webhook ${webhookId}.`);
  return webhook;
}

/** Refuses an address or a choice of events that cannot be (INVALID_INPUT); answers the events, each once. */
export function checkWebhook(
  { localReceivers }: WebhookCommandDeps,
  { url, events }: { url?: string | undefined; events?: readonly string[] | undefined },
): { events: SelectableEvent[] } {
  const faults = [
    ...(url === undefined ? [] : webhookUrlFaults(url, { localReceivers })),
    ...(events === undefined ? [] : eventFaults(events)),
  ];
  if (faults.length > 0) throw invalidInput(faults);
  return { events: WEBHOOK_EVENTS.filter((name) => events?.includes(name)) };
}

function eventFaults(events: readonly string[]): Fault[] {
  const known = WEBHOOK_EVENTS.join(', ');
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
    WEBHOOK_EVENTS.some((name) => name === event)
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
export function newSecret(
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
