import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudit } from '../../db/operations/audit.ts';
import type { Orm } from '../../db/orm.ts';
import { hasDeliveryAttempt, insertDeliveryAttempt, lockDelivery } from '../../db/webhooks/deliveries.ts';
import { lockWebhook } from '../../db/webhooks/webhooks.ts';
import { type DeliveryStatus, RETRY_DELAYS } from '../../domain/webhooks/webhook.ts';
import type { SendOutcome } from '../../webhooks/send.ts';
import type { AttemptInput } from '../activities.ts';

/** The result of an attempt, and the status of the delivery after it. */
export interface StoredAttempt {
  httpStatus: number | null;
  error: string | null;
  status: DeliveryStatus;
}

export interface StoreAttemptDeps {
  orm: Orm;
  clock: () => Date;
  /** Called after each attempt is stored; for the metrics. */
  onAttempt?: ((attempt: StoredAttempt) => void) | undefined;
}

/** 410: the receiver wants no more deliveries. */
const GONE = 410;
/** The webhook was removed while deliveries to it were in progress: nothing was sent. */
const REMOVED = { httpStatus: null, error: 'webhook_removed', answer: null, milliseconds: 0 } as const;

/**
 * Stores an attempt and its consequences; returns the status of the delivery. If the delivery was requested
 * again meanwhile, it stays PENDING even after its last attempt: a signal will start the next attempt.
 */
export async function storeAttempt(
  { orm, clock, onAttempt }: StoreAttemptDeps,
  { deliveryId, retriesLeft }: AttemptInput,
  execution: string,
  outcome: SendOutcome | 'webhook_removed',
): Promise<DeliveryStatus> {
  const stored = await orm.em.fork().transactional(async (em): Promise<StoredAttempt | DeliveryStatus> => {
    const delivery = await lockDelivery(em, deliveryId);
    if (!delivery) throw new Error(`delivery ${deliveryId} does not exist`);
    // Two runs at once, after a worker was thought dead: the first stored result counts.
    if (delivery.status !== 'PENDING' || (await hasDeliveryAttempt(em, deliveryId, execution))) {
      return delivery.status;
    }
    const { httpStatus, error, answer, milliseconds } = outcome === 'webhook_removed' ? REMOVED : outcome;
    const now = clock();
    const at = new Date(now.getTime() - milliseconds);
    await insertDeliveryAttempt(em, { deliveryId, execution, at, httpStatus, error, answer, milliseconds });
    if (httpStatus === GONE) await disable(em, delivery.webhookId, now);
    const isDelivered = httpStatus !== null && httpStatus >= 200 && httpStatus < 300;
    const askedAgain = delivery.askedAgain && outcome !== 'webhook_removed';
    delivery.askedAgain = false;
    if (isDelivered || (retriesLeft === 0 && !askedAgain)) {
      delivery.status = isDelivered ? 'DELIVERED' : 'FAILED';
      delivery.settledAt = now;
    }
    const delay = RETRY_DELAYS.at(-retriesLeft);
    const waits = delivery.status === 'PENDING' && !askedAgain && delay !== undefined;
    delivery.nextAttemptAt = waits ? new Date(now.getTime() + delay) : null;
    return { httpStatus, error, status: delivery.status };
  });
  if (typeof stored === 'string') return stored;
  onAttempt?.(stored);
  return stored.status;
}

async function disable(em: EntityManager, webhookId: string, now: Date): Promise<void> {
  const webhook = await lockWebhook(em, webhookId);
  if (!webhook?.enabled) return;
  webhook.enabled = false;
  webhook.disabledReason = 'gone';
  const { accountId } = webhook;
  const reason = 'the receiver answered 410';
  recordAudit(
    em,
    { actor: 'service', action: 'webhook.disable', subject: webhookId, accountId, reason },
    now,
  );
}
