/** What is kept for a time only, and how long (docs/operations.md#what-is-kept-and-how-long). */

/** Days for which rows are kept after they were last of use. */
export interface Retention {
  /** Messages of the outbox that were dispatched. */
  readonly outboxDays: number;
  /** Events with their deliveries. */
  readonly eventsDays: number;
  /** Attempts of deliveries and e-mails that have ended, calls to the authority for CFEs, with what was answered; the single things of bulk runs. */
  readonly attemptsDays: number;
  /** Private keys of certificates that were replaced. */
  readonly keysDays: number;
}

/** The tables from which rows go; of certificates it is the private key that goes. */
export const PURGED_TABLES = [
  'outbox',
  'delivery_attempt',
  'mail_attempt',
  'authority_attempt',
  'event',
  'run_item',
  'receipt_export_part',
  'idempotent_answer',
  'request_count',
  'failed_authentication',
  'sign_in_count',
  'form_count',
  'console_session',
  'daily_count',
  'mail_bounce',
  'account_invitation',
  'invitation',
  'certificate',
] as const;
export type PurgedTable = (typeof PURGED_TABLES)[number];

/** How many rows of each table went. */
export type Purged = Readonly<Record<PurgedTable, number>>;
