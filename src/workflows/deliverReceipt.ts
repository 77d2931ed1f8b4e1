import { condition, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { MailResult } from '../domain/activityResults.ts';
import { activity } from './activities.ts';
import { deliverAgain } from './messages.ts';
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
 * Brings one CFE to one address: at once and then by the schedule, until the mail server takes the e-mail, refuses it for
 * good, or the schedule ends. Every ending is a result. A request to send it again starts the schedule anew: at once
 * while the next attempt is waited for, else when the attempt under way has ended, so that none is lost.
 */
export async function deliverReceipt({ mailId, delays }: DeliverReceiptInput): Promise<Ending> {
  let again = true;
  setHandler(deliverAgain, () => {
    again = true;
  });
  let ending: Ending = { status: 'FAILED' };
  while (again) {
    again = false;
    const { kind } = await bySchedule({ mailId, delays }, () => again);
    ending = { status: STATUS[kind] };
  }
  setCurrentDetails(`Ended: ${ending.status}.`);
  return ending;
}

async function bySchedule(
  { mailId, delays }: DeliverReceiptInput,
  askedAgain: () => boolean,
): Promise<MailResult> {
  for (let made = 0; ; made += 1) {
    setCurrentDetails('Sending; the pending activity shows whether it waits for a place.');
    const result = await attemptMail({ mailId, retriesLeft: delays.length - made });
    const delay = delays[made];
    if (result.kind !== 'pending' || delay === undefined) return result;
    setCurrentDetails(`Not taken ${made + 1} times; sent again by itself. \`mail show\` tells why.`);
    if (await condition(askedAgain, delay, { summary: `Retry ${made + 1} of ${delays.length}` }))
      return result;
  }
}
