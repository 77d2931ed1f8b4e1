import * as z from 'zod';
import { Email } from './email.ts';
import { CUSTOMER_WORDS, words } from './fieldWords.ts';

/** What an e-mail brings: the receipt to a person who is to have it, or the sobre between companies. */
export const MAIL_KINDS = ['RECEIPT', 'EXCHANGE'] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** Status of an e-mail: under way, taken by the mail server, given up, or not sent since no mail server is configured. */
export const MAIL_STATUSES = ['PENDING', 'SENT', 'FAILED', 'DISABLED'] as const;
export type MailStatus = (typeof MAIL_STATUSES)[number];

/**
 * Pauses in milliseconds, each from an attempt that was not taken to the next: 1, 5 and 30 minutes, then 2, 6, 12 and 24
 * hours (docs/contract.md#e-mail).
 */
export const MAIL_RETRY_DELAYS: readonly number[] = [1, 5, 30, 120, 360, 720, 1_440].map(
  (minutes) => minutes * 60_000,
);

/** How many e-mails of one CFE may be asked for by hand in one day of Montevideo (docs/contract.md#e-mail). */
export const MAILS_BY_HAND_A_DAY = 10;

/** Body of POST …/cfes/{cfe_id}/emails (docs/contract.md#e-mail). */
export const SendMail = z
  .strictObject({ destination: Email.meta(words(CUSTOMER_WORDS.destination)) })
  .meta({ description: 'Where the receipt is to go.' });

/** Why an e-mail was not taken: stable words, without addresses, for whoever looks into it. */
export type MailError =
  /** The server answered with a code: 4xx is tried again, 5xx is not. */
  | 'refused'
  /** It does not let us in; that is ours to mend, so that it is tried again whatever the code. */
  | 'login'
  | 'dns'
  | 'tls'
  | 'connection_refused'
  | 'connection'
  | 'timeout'
  /** The receipt could not be printed: a mistake of ours. */
  | 'print'
  /** No mail server can be told this address. */
  | 'address'
  /** An e-mail of the sandbox to an address that is not on CFE_MAIL_SANDBOX_ALLOW. */
  | 'sandbox'
  /** The authority has rejected the CFE meanwhile. */
  | 'cfe_rejected';

/** That a receipt cannot be printed, whoever tries; `cause` is why. */
export class UnprintableReceipt extends Error {
  override name = 'UnprintableReceipt';
}

/** What became of one attempt to send. */
export interface MailOutcome {
  /** What the server answered; null without an answer. */
  readonly smtpCode: number | null;
  /** null: the server took it. */
  readonly error: MailError | null;
  /** The start of the server's answer, in its own words. */
  readonly answer: string | null;
  /** Whether trying again is of no use. */
  readonly isFinal: boolean;
  readonly milliseconds: number;
}

/** Where an e-mail stands after an attempt. `retriesLeft`: how many attempts of its schedule follow. */
export function statusAfter(
  { error, isFinal }: Pick<MailOutcome, 'error' | 'isFinal'>,
  { retriesLeft, askedAgain }: { retriesLeft: number; askedAgain: boolean },
): MailStatus {
  if (error === null) return 'SENT';
  // Asked for again meanwhile: the signal that begins a new schedule is on its way.
  if (askedAgain) return 'PENDING';
  return isFinal || retriesLeft === 0 ? 'FAILED' : 'PENDING';
}

/** Whether an e-mail of the sandbox may go to an address: only where the operator has named it. */
export const mayReachFromSandbox = (destination: string, allowed: readonly string[]): boolean =>
  allowed.some((address) => address.toLowerCase() === destination.toLowerCase());
