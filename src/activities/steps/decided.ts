import type { Decided } from '../../domain/activityResults.ts';
import type { FinalStatus } from '../../domain/cfeStatus.ts';
import { codesOf, type RejectionReason } from '../../domain/rejection.ts';

/** The result of a step whose CFE has its verdict: what it is, and the codes of the reasons for a rejection. */
export const decided = (status: FinalStatus, reasons: readonly RejectionReason[] | null): Decided => ({
  kind: 'decided',
  status,
  codes: status === 'REJECTED' ? codesOf(reasons) : [],
});
