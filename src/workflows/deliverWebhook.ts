import {
  CancellationScope,
  condition,
  isCancellation,
  patched,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
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
 * Ends with DELIVERED or FAILED; both are results. A request to deliver again starts the schedule anew: at once while
 * the next attempt is waited for, else when the attempt under way has ended, so that none is lost.
 */
export async function deliverWebhook({ deliveryId, delays }: DeliverWebhookInput): Promise<Ending> {
  let again = true;
  setHandler(deliverAgain, () => {
    again = true;
  });
  let ending: Ending = { status: 'FAILED' };
  while (again) {
    again = false;
    const { kind } = await bySchedule({ deliveryId, delays }, () => again);
    ending = { status: kind === 'delivered' ? 'DELIVERED' : 'FAILED' };
  }
  setCurrentDetails(`Ended: ${ending.status}.`);
  return ending;
}

async function bySchedule(
  { deliveryId, delays }: DeliverWebhookInput,
  askedAgain: () => boolean,
): Promise<AttemptResult> {
  for (let made = 0; ; made += 1) {
    setCurrentDetails('Sending; the pending activity shows whether it waits for a place at this receiver.');
    const result = await attemptDelivery({ deliveryId, retriesLeft: delays.length - made });
    const delay = delays[made];
    if (result.kind !== 'pending' || delay === undefined) return result;
    setCurrentDetails(`Not taken ${made + 1} times; sent again by itself. \`delivery show\` tells why.`);
    const isOver = await pause(delay, `Retry ${made + 1} of ${delays.length}`, askedAgain);
    if (!isOver) return result;
  }
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
