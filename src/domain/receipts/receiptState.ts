import type { CfeStatus } from './cfeStatus.ts';
import { OWN_REJECTION_CODES, type RejectionReason } from './rejection.ts';

/**
 * Whether a receipt may be handed over, which requires that its sobre was sent to the authority (docs/authority/sobres.md).
 * `inProcess`: not sent yet, or unknown; `neverSent`: it will not be sent.
 */
export type ReceiptState = 'inProcess' | 'sent' | 'neverSent';

/** Rejection codes of CFEs that were never sent. */
const NEVER_SENT: readonly string[] = [OWN_REJECTION_CODES.abandoned, OWN_REJECTION_CODES.originalRejected];

/** Returns the state of the receipt of a CFE. */
export function receiptState({
  status,
  rejection,
}: {
  readonly status: CfeStatus;
  readonly rejection: readonly RejectionReason[] | null;
}): ReceiptState {
  if (status === 'PENDING') return 'inProcess';
  if (status !== 'REJECTED') return 'sent';
  return rejection?.some(({ code }) => NEVER_SENT.includes(code)) ? 'neverSent' : 'sent';
}
