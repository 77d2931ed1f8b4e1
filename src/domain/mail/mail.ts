import * as z from 'zod';
import { CUSTOMER_WORDS, describeField } from '../requests/fieldWords.ts';
import { Email } from '../values/email.ts';

/** Content of an e-mail: the receipt for a person, or the sobre between companies. */
export const MAIL_KINDS = ['RECEIPT', 'EXCHANGE'] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** Status of an e-mail: in progress, accepted by the mail server, given up, or not sent without a mail server. */
export const MAIL_STATUSES = ['PENDING', 'SENT', 'FAILED', 'DISABLED'] as const;
export type MailStatus = (typeof MAIL_STATUSES)[number];

/** Pauses between attempts in milliseconds: 1, 5 and 30 minutes, then 2, 6, 12 and 24 hours (docs/contract.md#e-mail). */
export const MAIL_RETRY_DELAYS: readonly number[] = [1, 5, 30, 120, 360, 720, 1_440].map(
  (minutes) => minutes * 60_000,
);

/** The most e-mails of one CFE on request, or sent again, per day in Montevideo (docs/contract.md#e-mail). */
export const MAILS_BY_HAND_A_DAY = 10;

/**
 * The most e-mails to one mailbox per day over all accounts, without automatic sobres, which the law requires. Each
 * account has an assured number, so that no account blocks the receipts of another.
 */
export const MAILS_TO_ONE_MAILBOX = 2_000;

/** E-mails of an account to a mailbox per day that are sent regardless of other accounts. */
export const MAILS_TO_ONE_MAILBOX_ASSURED = 50;

/** Prevents one account from using up the limit of all accounts. */
const MOST_TO_ONE_MAILBOX = 500;

/**
 * Returns the daily e-mail limits of an account, derived from its rate limit, which an operator raises with
 * `limit set`.
 */
export const mailLimitsOfAccount = (requestsPerHour: number) => ({
  all: 5 * requestsPerHour,
  /** On request: leaves room for automatic receipts. */
  byHand: Math.ceil((5 * requestsPerHour) / 2),
  toOneMailbox: Math.min(Math.ceil(requestsPerHour / 5), MOST_TO_ONE_MAILBOX),
  /** Automatic sobres, counted separately: one for each e-Factura that the account can issue in a day. */
  sobres: 24 * requestsPerHour,
});

/**
 * Returns the mailbox of an address: ignores capitals and a suffix after a plus sign (RFC 5233), and for Gmail the points
 * and the second domain.
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
  .meta({ description: 'Destination of the receipt.' });

/** Why an e-mail was not accepted: stable codes without addresses. */
export const MAIL_ERRORS = [
  /** The server answered with a code: 4xx is retried, 5xx is not. */
  'refused',
  /** The server refuses our login, which we must correct: retried for any code. */
  'login',
  'dns',
  'tls',
  'connection_refused',
  'connection',
  'timeout',
  /** The receipt could not be printed: a bug. */
  'print',
  /** The address is not valid in SMTP. */
  'address',
  /** An e-mail of the sandbox to an address that is not on CFE_MAIL_SANDBOX_ALLOW. */
  'sandbox',
  /** The authority has rejected the CFE in the meantime. */
  'cfe_rejected',
  /** The daily limit is reached; retried. */
  'account_limit',
  'mailbox_limit',
  /** The address permanently refused an earlier e-mail of the account. */
  'bounced',
  /** The enterprise was transferred to another account before the e-mail was sent. */
  'transferred',
] as const;
export type MailError = (typeof MAIL_ERRORS)[number];

/** The daily limits that an e-mail can exceed. */
export type MailLimit = Extract<MailError, 'account_limit' | 'mailbox_limit'>;

/** A receipt cannot be printed, not even on a retry; see `cause`. */
export class UnprintableReceipt extends Error {
  override name = 'UnprintableReceipt';
}

/** The result of one attempt to send. */
export interface MailOutcome {
  /** The server's code; null without an answer. */
  readonly smtpCode: number | null;
  /** null: the server accepted the e-mail. */
  readonly error: MailError | null;
  /** The start of the server's answer, verbatim. */
  readonly answer: string | null;
  /** Whether a retry would be useless. */
  readonly isFinal: boolean;
  /** Whether the address was permanently refused, so that no other e-mail would arrive either. */
  readonly isBounce: boolean;
  readonly milliseconds: number;
}

/** Returns the status of an e-mail after an attempt. `retriesLeft`: remaining attempts of its schedule. */
export function mailStatusAfter(
  { error, isFinal }: Pick<MailOutcome, 'error' | 'isFinal'>,
  { retriesLeft, askedAgain }: { retriesLeft: number; askedAgain: boolean },
): MailStatus {
  if (error === null) return 'SENT';
  // Requested again in the meantime: a signal will start a new schedule.
  if (askedAgain) return 'PENDING';
  return isFinal || retriesLeft === 0 ? 'FAILED' : 'PENDING';
}

/** True when the operator allows e-mails of the sandbox to an address. */
export const isSandboxAddressAllowed = (destination: string, allowed: readonly string[]): boolean =>
  allowed.some((address) => address.toLowerCase() === destination.toLowerCase());
