import {
  CancellationScope,
  condition,
  isCancellation,
  patched,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { activity } from './activities.ts';
import { deliver } from './deliveries.ts';
import { DeliveryStatusAttribute, RECEIVER } from './options.ts';

const attemptDelivery = activity('attemptDelivery', {
  ...RECEIVER,
  summary: 'Send the event to the receiver',
});

export interface DeliverWebhookInput {
  deliveryId: string;
  /** Milliseconds from each failure to the next attempt: RETRY_DELAYS of domain/webhook.ts as the delivery was made. */
  delays: readonly number[];
}

type Ending = { status: 'DELIVERED' | 'FAILED' };

/**
 * Brings one event to one webhook, until the receiver takes it or the schedule ends. Ends with DELIVERED or FAILED; both
 * are results.
 */
export async function deliverWebhook({ deliveryId, delays }: DeliverWebhookInput): Promise<Ending> {
  const { kind } = await deliver({
    delays,
    attempt: (retriesLeft) => attemptDelivery({ deliveryId, retriesLeft }),
    pause,
    sending: 'Sending; the pending activity shows whether it waits for a place at this receiver.',
    verb: 'delivery show',
  });
  const ending: Ending = { status: kind === 'delivered' ? 'DELIVERED' : 'FAILED' };
  if (patched('deliverWebhook-tells-status'))
    upsertSearchAttributes([{ key: DeliveryStatusAttribute, value: ending.status }]);
  setCurrentDetails(`Ended: ${ending.status}.`);
  return ending;
}

/** Waits for the next attempt; false when one was asked for before its time. */
async function pause(milliseconds: number, summary: string, askedAgain: () => boolean): Promise<boolean> {
  let isOver = false;
  const timer = new CancellationScope();
  const time = timer
    .run(async () => {
      await sleep(milliseconds, { summary });
      isOver = true;
    })
    .catch((error: unknown) => {
      if (!isCancellation(error)) throw error;
    });
  await condition(() => isOver || askedAgain());
  // Asked only once woken: a run that began to wait before there was the patch is woken too.
  if (!isOver && patched('deliverWebhook-wakes')) timer.cancel();
  await time;
  return isOver;
}
