import { proxyActivities, setCurrentDetails, setHandler, sleep } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import type { DeliveryStatus } from '../domain/webhook.ts';
import { deliverAgain } from './messages.ts';
import { RECEIVER } from './options.ts';

const { attemptDelivery } = proxyActivities<WebhookActivities>({
  ...RECEIVER,
  summary: 'Send the event to the receiver',
});

export interface DeliverWebhookInput {
  deliveryId: string;
  /** Milliseconds from each failure to the next attempt. */
  delays: readonly number[];
}

/**
 * Brings one event to one webhook: at once and then by the schedule, until the receiver takes it or the schedule ends.
 * Ends with DELIVERED or FAILED; both are results. A request to deliver again that comes just as it ends starts the
 * schedule anew, so that none is lost.
 */
export async function deliverWebhook({
  deliveryId,
  delays,
}: DeliverWebhookInput): Promise<{ status: DeliveryStatus }> {
  let again = true;
  setHandler(deliverAgain, () => {
    again = true;
  });
  let status: DeliveryStatus = 'FAILED';
  while (again) {
    again = false;
    status = await bySchedule(deliveryId, delays);
  }
  setCurrentDetails(`Ended: ${status}.`);
  return { status };
}

async function bySchedule(deliveryId: string, delays: readonly number[]): Promise<DeliveryStatus> {
  for (let made = 0; ; made += 1) {
    setCurrentDetails('Sending; the pending activity shows whether it waits for a turn at this receiver.');
    const { status } = await attemptDelivery({ deliveryId, retriesLeft: delays.length - made });
    const delay = delays[made];
    if (status !== 'PENDING' || delay === undefined) return status;
    setCurrentDetails(`Not taken ${made + 1} times; sent again by itself. \`delivery show\` tells why.`);
    await sleep(delay, { summary: `Retry ${made + 1} of ${delays.length}` });
  }
}
