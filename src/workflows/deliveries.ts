/** What is brought to somebody else's server: webhooks and e-mails, by one schedule of attempts. */
import { condition, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { MailResult } from '../domain/activityResults.ts';
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
  /** Milliseconds from each failure to the next attempt: RETRY_DELAYS of domain/webhook.ts as the delivery was made. */
  delays: readonly number[];
}
type WebhookEnding = { status: 'DELIVERED' | 'FAILED' };

/**
 * Brings one event to one webhook, until the receiver takes it or the schedule ends. Ends with DELIVERED or FAILED; both
 * are results.
 */
export const deliverWebhook = withoutCancellation(
  async ({ deliveryId, delays }: DeliverWebhookInput): Promise<WebhookEnding> => {
    const { kind } = await deliver({
      delays,
      attempt: (retriesLeft) => attemptDelivery({ deliveryId, retriesLeft }),
      sending: 'Sending; the pending activity shows whether it waits for a place at this receiver.',
      verb: 'delivery show',
    });
    const ending: WebhookEnding = { status: kind === 'delivered' ? 'DELIVERED' : 'FAILED' };
    upsertSearchAttributes([{ key: StateAttribute, value: ending.status }]);
    setCurrentDetails(`Ended: ${ending.status}.`);
    return ending;
  },
);

export interface DeliverReceiptInput {
  mailId: string;
  /** Milliseconds from each failure to the next attempt: MAIL_RETRY_DELAYS of domain/mail.ts as the e-mail was made. */
  delays: readonly number[];
}

const MAIL_STATUS = { sent: 'SENT', failed: 'FAILED', disabled: 'DISABLED', pending: 'FAILED' } as const;
type MailEnding = { status: (typeof MAIL_STATUS)[MailResult['kind']] };

/**
 * Brings one CFE to one address, until the mail server takes the e-mail, refuses it for good, or the schedule ends. Every
 * ending is a result.
 */
export const deliverReceipt = withoutCancellation(
  async ({ mailId, delays }: DeliverReceiptInput): Promise<MailEnding> => {
    const { kind } = await deliver({
      delays,
      attempt: (retriesLeft) => attemptMail({ mailId, retriesLeft }),
      sending: 'Sending; the pending activity shows whether it waits for a place.',
      verb: 'mail show',
    });
    const ending: MailEnding = { status: MAIL_STATUS[kind] };
    setCurrentDetails(`Ended: ${ending.status}.`);
    return ending;
  },
);

interface Attempts<R> {
  /** Milliseconds from each failure to the next attempt. */
  readonly delays: readonly number[];
  /** Makes one; `retriesLeft` more follow if it is not taken. */
  readonly attempt: (retriesLeft: number) => Promise<R>;
  /** Details while an attempt is under way, and the verb of the command line that tells why one was not taken. */
  readonly sending: string;
  readonly verb: string;
}

/**
 * Attempts a delivery at once and then by the schedule, until the result is not `pending` or the schedule ends; returns
 * the last result. The signal `deliverAgain` starts the schedule anew: at once during a pause, else after the attempt
 * under way, so that none is lost. Call it before the first await.
 */
async function deliver<R extends { kind: string }>(attempts: Attempts<R>): Promise<R> {
  const { delays, attempt, sending, verb } = attempts;
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
      setCurrentDetails(`Not taken ${failures} times; sent again by itself. \`${verb}\` tells why.`);
      await condition(() => again, delay, { summary: `Retry ${failures} of ${delays.length}` });
    } else if (!again) return result;
    if (again) failures = 0;
  }
}
