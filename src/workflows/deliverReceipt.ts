import { condition, setCurrentDetails } from '@temporalio/workflow';
import type { MailResult } from '../domain/activityResults.ts';
import { activity } from './activities.ts';
import { deliver } from './deliveries.ts';
import { MAIL_SERVER } from './options.ts';

const attemptMail = activity('attemptMail', {
  ...MAIL_SERVER,
  summary: 'Hand the e-mail to the mail server',
});

export interface DeliverReceiptInput {
  mailId: string;
  /** Milliseconds from each failure to the next attempt: MAIL_RETRY_DELAYS of domain/mail.ts as the e-mail was made. */
  delays: readonly number[];
}

const STATUS = { sent: 'SENT', failed: 'FAILED', disabled: 'DISABLED', pending: 'FAILED' } as const;
type Ending = { status: (typeof STATUS)[MailResult['kind']] };

/**
 * Brings one CFE to one address, until the mail server takes the e-mail, refuses it for good, or the schedule ends. Every
 * ending is a result.
 */
export async function deliverReceipt({ mailId, delays }: DeliverReceiptInput): Promise<Ending> {
  const { kind } = await deliver({
    delays,
    attempt: (retriesLeft) => attemptMail({ mailId, retriesLeft }),
    pause: async (milliseconds, summary, askedAgain) =>
      !(await condition(askedAgain, milliseconds, { summary })),
    sending: 'Sending; the pending activity shows whether it waits for a place.',
    verb: 'mail show',
  });
  const ending = { status: STATUS[kind] };
  setCurrentDetails(`Ended: ${ending.status}.`);
  return ending;
}
