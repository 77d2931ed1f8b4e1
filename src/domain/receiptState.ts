import type { CfeStatus } from './cfeStatus.ts';
import { OWN_REJECTION_CODES, type RejectionReason } from './rejection.ts';

/**
 * Whether a receipt may be handed over, which it may once its sobre went to the authority (docs/authority/sobres.md):
 * `inProcess`: not yet, or nobody knows yet that it did; `sent`; `neverSent`: it does not go any more.
 */
export type ReceiptState = 'inProcess' | 'sent' | 'neverSent';

/** The codes of CFEs that the authority never had. */
const NEVER_SENT: readonly string[] = [OWN_REJECTION_CODES.abandoned, OWN_REJECTION_CODES.originalRejected];

/** The state of the receipt of a CFE that stands so. */
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
