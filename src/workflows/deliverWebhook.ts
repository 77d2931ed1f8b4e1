import { setCurrentDetails, setHandler, sleep } from '@temporalio/workflow';
import type { AttemptResult } from '../domain/activityResults.ts';
import { activity } from './activities.ts';
import { deliverAgain } from './messages.ts';
import { RECEIVER } from './options.ts';

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
 * Brings one event to one webhook: at once and then by the schedule, until the receiver takes it or the schedule ends.
 * Ends with DELIVERED or FAILED; both are results. A request to deliver again that comes just as it ends starts the
 * schedule anew, so that none is lost.
 */
export async function deliverWebhook({ deliveryId, delays }: DeliverWebhookInput): Promise<Ending> {
  let again = true;
  setHandler(deliverAgain, () => {
    again = true;
  });
  let ending: Ending = { status: 'FAILED' };
  while (again) {
    again = false;
    const { kind } = await bySchedule(deliveryId, delays);
    ending = { status: kind === 'delivered' ? 'DELIVERED' : 'FAILED' };
  }
  setCurrentDetails(`Ended: ${ending.status}.`);
  return ending;
}

async function bySchedule(deliveryId: string, delays: readonly number[]): Promise<AttemptResult> {
  for (let made = 0; ; made += 1) {
    setCurrentDetails('Sending; the pending activity shows whether it waits for a place at this receiver.');
    const result = await attemptDelivery({ deliveryId, retriesLeft: delays.length - made });
    const delay = delays[made];
    if (result.kind !== 'pending' || delay === undefined) return result;
    setCurrentDetails(`Not taken ${made + 1} times; sent again by itself. \`delivery show\` tells why.`);
    await sleep(delay, { summary: `Retry ${made + 1} of ${delays.length}` });
  }
}
