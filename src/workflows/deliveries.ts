/** Deliveries to other servers: webhooks and e-mails, with one schedule of attempts. */
import { condition, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { MailResult } from '../domain/authority/activityResults.ts';
import {
  activity,
  deliverAgain,
  MAIL_SERVER,
  RECEIVER,
  StateAttribute,
  withoutCancellation,
} from './common.ts';

const attemptDelivery = activity('attemptDelivery', {
  ...RECEIVER,
  summary: 'Send the event to the receiver',
});
const attemptMail = activity('attemptMail', {
  ...MAIL_SERVER,
  summary: 'Hand the e-mail to the mail server',
});

export interface DeliverWebhookInput {
  deliveryId: string;
  /**
   * Milliseconds from each failure to the next attempt: RETRY_DELAYS of domain/webhooks/webhook.ts at the delivery's
   * creation.
   */
  delays: readonly number[];
}
type WebhookEnding = { status: 'DELIVERED' | 'FAILED' };

/**
 * Delivers one event to one webhook until the receiver takes it or the schedule ends. Ends with DELIVERED or
 * FAILED; both are results.
 */
export const deliverWebhook = withoutCancellation(
  async ({ deliveryId, delays }: DeliverWebhookInput): Promise<WebhookEnding> => {
    const { kind } = await deliver({
      delays,
      attempt: (retriesLeft) => attemptDelivery({ deliveryId, retriesLeft }),
      sending: 'Sending; the pending activity shows whether it waits for a slot of this receiver.',
      command: 'delivery show',
    });
    const ending: WebhookEnding = { status: kind === 'delivered' ? 'DELIVERED' : 'FAILED' };
    upsertSearchAttributes([{ key: StateAttribute, value: ending.status }]);
    setCurrentDetails(`Ended: ${ending.status}.`);
    return ending;
  },
);

export interface DeliverReceiptInput {
  mailId: string;
  /**
   * Milliseconds from each failure to the next attempt: MAIL_RETRY_DELAYS of domain/mail/mail.ts at the e-mail's
   * creation.
   */
  delays: readonly number[];
}

const MAIL_STATUS = { sent: 'SENT', failed: 'FAILED', disabled: 'DISABLED', pending: 'FAILED' } as const;
type MailEnding = { status: (typeof MAIL_STATUS)[MailResult['kind']] };

/**
 * Sends one CFE to one address until the mail server takes the e-mail or refuses it permanently, or the
 * schedule ends. Every ending is a result.
 */
export const deliverReceipt = withoutCancellation(
  async ({ mailId, delays }: DeliverReceiptInput): Promise<MailEnding> => {
    const { kind } = await deliver({
      delays,
      attempt: (retriesLeft) => attemptMail({ mailId, retriesLeft }),
      sending: 'Sending; the pending activity shows whether it waits for a slot.',
      command: 'mail show',
    });
    const ending: MailEnding = { status: MAIL_STATUS[kind] };
    setCurrentDetails(`Ended: ${ending.status}.`);
    return ending;
  },
);

interface Attempts<R> {
  /** Milliseconds from each failure to the next attempt. */
  readonly delays: readonly number[];
  /** Makes one attempt; `retriesLeft`: the attempts that follow a failure. */
  readonly attempt: (retriesLeft: number) => Promise<R>;
  /** The details during an attempt, and the command that shows why an attempt failed. */
  readonly sending: string;
  readonly command: string;
}

/**
 * Attempts a delivery at once and then by the schedule, until the result is not `pending` or the schedule
 * ends; returns the last result. The signal `deliverAgain` restarts the schedule: at once during a pause,
 * else after the attempt in progress, so that no signal is lost. Must be called before the first await.
 */
async function deliver<R extends { kind: string }>(attempts: Attempts<R>): Promise<R> {
  const { delays, attempt, sending, command } = attempts;
  let again = false;
  setHandler(deliverAgain, () => {
    again = true;
  });
  let failures = 0;
  for (;;) {
    again = false;
    setCurrentDetails(sending);
    const result = await attempt(delays.length - failures);
    const delay = result.kind === 'pending' ? delays[failures] : undefined;
    if (delay !== undefined) {
      failures += 1;
      setCurrentDetails(`Not taken ${failures} times; retried automatically. \`${command}\` shows why.`);
      await condition(() => again, delay, { summary: `Retry ${failures} of ${delays.length}` });
    } else if (!again) return result;
    if (again) failures = 0;
  }
}
