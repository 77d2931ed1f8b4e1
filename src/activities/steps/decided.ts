import type { Decided } from '../../domain/activityResults.ts';
import type { FinalStatus } from '../../domain/cfeStatus.ts';
import { codesOf, type RejectionReason } from '../../domain/rejection.ts';

/** The result of a step whose CFE has its verdict: what it is, and, of a rejection, the codes of its reasons. */
export const decided = (status: FinalStatus, reasons: readonly RejectionReason[] | null): Decided => ({
  kind: 'decided',
  status,
  ...(status === 'REJECTED' ? { codes: codesOf(reasons) } : {}),
});
