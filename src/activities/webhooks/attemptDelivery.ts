import { ApplicationFailure } from '@temporalio/activity';
import type { Opener } from '../../crypto/sealed.ts';
import { Event, Webhook } from '../../db/entities/webhooks.ts';
import { findDelivery, hasDeliveryAttempt } from '../../db/webhooks/deliveries.ts';
import type { AttemptResult } from '../../domain/authority/activityResults.ts';
import type { DeliveryStatus } from '../../domain/webhooks/webhook.ts';
import { failpoint } from '../../failpoints.ts';
import type { Sender, SendOutcome } from '../../webhooks/send.ts';
import { signatureHeaders } from '../../webhooks/signature.ts';
import type { DeliverySlots } from '../../webhooks/slots.ts';
import type { Activity, AttemptInput } from '../activities.ts';
import { executionId, retryLater, withHeartbeat } from '../authority/attempt.ts';
import { type StoreAttemptDeps, storeAttempt } from './storeAttempt.ts';

export interface AttemptDeps extends StoreAttemptDeps {
  opener: Opener;
  send: Sender;
  slots: DeliverySlots;
}

/**
 * Makes one attempt of a delivery and stores its result. After a worker crash, a repeat finds the stored
 * result or sends the same bytes under the same id again.
 */
export function createAttemptDelivery(deps: AttemptDeps): Activity<'attemptDelivery'> {
  return (input) => withHeartbeat(() => attemptDelivery(deps, input));
}

async function attemptDelivery(deps: AttemptDeps, input: AttemptInput): Promise<AttemptResult> {
  const em = deps.orm.em.fork();
  const { deliveryId } = input;
  const execution = executionId();
  const delivery = await findDelivery(em, deliveryId);
  if (!delivery) throw new Error(`delivery ${deliveryId} does not exist`);
  const { status, webhookId, eventId } = delivery;
  if (status !== 'PENDING' || (await hasDeliveryAttempt(em, deliveryId, execution))) return RESULTS[status];

  const webhook = await em.findOneOrFail(Webhook, { id: webhookId });
  if (webhook.removedAt !== null) {
    return RESULTS[await storeAttempt(deps, { ...input, retriesLeft: 0 }, execution, 'webhook_removed')];
  }
  const slot = deps.slots.take({ receiver: webhookId, accountId: webhook.accountId });
  if ('waitMilliseconds' in slot) throw receiverBusy(slot.waitMilliseconds);
  try {
    const { body } = await em.findOneOrFail(Event, { id: eventId });
    failpoint('deliver.sending');
    const outcome = await sendTo(deps, webhook, { id: deliveryId, body });
    failpoint('deliver.sent');
    const stored = await storeAttempt(deps, input, execution, outcome);
    failpoint('deliver.stored');
    return RESULTS[stored];
  } finally {
    slot.free();
  }
}

const RESULTS: Readonly<Record<DeliveryStatus, AttemptResult>> = {
  DELIVERED: { kind: 'delivered' },
  FAILED: { kind: 'failed' },
  PENDING: { kind: 'pending' },
};

/** Sends the event, signed with the webhook's secret and, for a time, with the previous one. */
function sendTo(
  { opener, send, clock }: AttemptDeps,
  webhook: Webhook,
  message: { id: string; body: string },
): Promise<SendOutcome> {
  const at = clock();
  const body = Buffer.from(message.body, 'utf8');
  const isPreviousValid = webhook.previousSecretUntil !== null && webhook.previousSecretUntil > at;
  const { accountId, id: rowId } = webhook;
  const secrets = [webhook.sealedSecret, isPreviousValid ? webhook.sealedPreviousSecret : null]
    .filter((sealed) => sealed !== null)
    .map((sealed) => opener.open(sealed, { purpose: 'webhook-secret', accountId, rowId }).toString('utf8'));
  return send({
    url: webhook.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'cfe-service-webhooks/1.0',
      ...signatureHeaders({ id: message.id, at, body, secrets }),
    },
    body,
  });
}

/** The receiver is at its limit: no attempt is counted, and the history does not grow. */
const receiverBusy = (waitMilliseconds: number): ApplicationFailure =>
  retryLater(
    'ReceiverBusy',
    'Other deliveries to this receiver are in progress; this one waits for a slot.',
    waitMilliseconds,
  );
