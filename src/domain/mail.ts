import * as z from 'zod';
import { Email } from './email.ts';
import { CUSTOMER_WORDS, describeField } from './fieldWords.ts';

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

/** How many e-mails of one CFE people may ask for, or send again, in a day of Montevideo (docs/contract.md#e-mail). */
export const MAILS_BY_HAND_A_DAY = 10;

/**
 * E-mails that one mailbox gets in a day, of all accounts together; automatic sobres aside, which are the law's. It does
 * not refuse the first ones of each account: no account's flood stops the receipts of another.
 */
export const MAILS_TO_ONE_MAILBOX = 2_000;

/** So many of an account go to a mailbox in a day whatever it gets from others. */
export const MAILS_TO_ONE_MAILBOX_ASSURED = 50;

/** No account fills the limit of all accounts alone, whatever its own. */
const MOST_TO_ONE_MAILBOX = 500;

/**
 * How many e-mails an account sends in a day, by the requests that it may make in an hour, which an operator raises with
 * `limit set`; to one mailbox never more than MOST_TO_ONE_MAILBOX.
 */
export const mailLimitsOfAccount = (requestsPerHour: number) => ({
  all: 5 * requestsPerHour,
  /** Of those, on request: what others ask for leaves room for automatic receipts. */
  byHand: Math.ceil((5 * requestsPerHour) / 2),
  toOneMailbox: Math.min(Math.ceil(requestsPerHour / 5), MOST_TO_ONE_MAILBOX),
  /** Automatic ones, counted apart: as many as e-Facturas that it can issue in a day. */
  sobres: 24 * requestsPerHour,
});

/**
 * The mailbox behind an address: capitals do not count, nor does what its owner adds after a plus sign (RFC 5233), nor,
 * at Gmail, points before the @ and which of its two names stands behind it.
 */
export function normaliseMailbox(destination: string): string {
  const mailbox = destination.toLowerCase().replace(/\+[^@]*(?=@)/, '');
  const [, name] = GMAIL.exec(mailbox) ?? [];
  return name === undefined ? mailbox : `${name.replaceAll('.', '')}@gmail.com`;
}
const GMAIL = /^(.*)@(?:gmail|googlemail)\.com$/;

/** Body of POST …/cfes/{cfe_id}/emails (docs/contract.md#e-mail). */
export const SendMail = z
  .strictObject({ destination: Email.meta(describeField(CUSTOMER_WORDS.destination)) })
  .meta({ description: 'Where the receipt is to go.' });

/** Why an e-mail was not taken: stable words, without addresses, for whoever looks into it. */
export const MAIL_ERRORS = [
  /** The server answered with a code: 4xx is tried again, 5xx is not. */
  'refused',
  /** It does not let us in; that is ours to mend, so that it is tried again whatever the code. */
  'login',
  'dns',
  'tls',
  'connection_refused',
  'connection',
  'timeout',
  /** The receipt could not be printed: a mistake of ours. */
  'print',
  /** No mail server can be told this address. */
  'address',
  /** An e-mail of the sandbox to an address that is not on CFE_MAIL_SANDBOX_ALLOW. */
  'sandbox',
  /** The authority has rejected the CFE meanwhile. */
  'cfe_rejected',
  /** As many as may went out today; it is tried again. */
  'account_limit',
  'mailbox_limit',
  /** The address refused an earlier e-mail of the account for good. */
  'bounced',
  /** The enterprise was transferred to another account before it went. */
  'transferred',
] as const;
export type MailError = (typeof MAIL_ERRORS)[number];

/** The limits of a day that an e-mail may exceed: that of its account, and that of its mailbox. */
export type MailLimit = Extract<MailError, 'account_limit' | 'mailbox_limit'>;

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
  /** Whether it was the address that was refused for good: no other e-mail would arrive there either. */
  readonly isBounce: boolean;
  readonly milliseconds: number;
}

/** Where an e-mail stands after an attempt. `retriesLeft`: how many attempts of its schedule follow. */
export function mailStatusAfter(
  { error, isFinal }: Pick<MailOutcome, 'error' | 'isFinal'>,
  { retriesLeft, askedAgain }: { retriesLeft: number; askedAgain: boolean },
): MailStatus {
  if (error === null) return 'SENT';
  // Asked for again meanwhile: the signal that begins a new schedule is on its way.
  if (askedAgain) return 'PENDING';
  return isFinal || retriesLeft === 0 ? 'FAILED' : 'PENDING';
}

/** Whether an e-mail of the sandbox may go to an address: only where the operator has named it. */
export const isSandboxAddressAllowed = (destination: string, allowed: readonly string[]): boolean =>
  allowed.some((address) => address.toLowerCase() === destination.toLowerCase());
