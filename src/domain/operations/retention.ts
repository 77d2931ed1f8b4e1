/** Retention of stored data (docs/operations.md#what-is-kept-and-how-long). */

/** Days for which rows are kept after their last use. */
export interface Retention {
  /** Dispatched messages of the outbox. */
  readonly outboxDays: number;
  /** Events with their deliveries. */
  readonly eventsDays: number;
  /** Finished attempts of deliveries and e-mails, calls to the authority for CFEs, and items of bulk runs. */
  readonly attemptsDays: number;
  /** Private keys of replaced certificates. */
  readonly keysDays: number;
}

/** The tables whose old rows are deleted; of a certificate only the private key. */
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

/** Deleted rows by table. */
export type Purged = Readonly<Record<PurgedTable, number>>;
