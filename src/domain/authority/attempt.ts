/** The stored calls to the authority for a CFE (docs/operations.md#what-was-said-to-the-authority). */
import type { RejectionReason } from '../receipts/rejection.ts';

/** The operations that are stored for a CFE. */
export const ATTEMPT_OPERATIONS = ['sendSobre', 'askVerdict', 'findSobre', 'findCfe'] as const;
export type AttemptOperation = (typeof ATTEMPT_OPERATIONS)[number];

/** One call and its result. */
export interface AuthorityCallRecord {
  readonly operation: AttemptOperation;
  /** The answer's name in the table of outcomes (docs/outcomes.md), or the authority's state of the receipt. */
  readonly answer: string;
  /** The result by the table of outcomes. */
  readonly result: string;
  readonly at: Date;
  readonly milliseconds: number;
  /** The status or code of a failure. */
  readonly detail: string | null;
  /** The authority's reasons, verbatim. */
  readonly reasons: readonly RejectionReason[];
  /** The parameters; null for a sobre, which is stored anyway. */
  readonly request: string | null;
  readonly response: Uint8Array | null;
}

/** A group of calls with the same question and answer: its first and last call. */
export interface AttemptSummary
  extends Omit<AuthorityCallRecord, 'at' | 'milliseconds' | 'request' | 'response'> {
  readonly count: number;
  readonly firstAt: Date;
  readonly firstMilliseconds: number;
  readonly lastAt: Date;
  readonly lastMilliseconds: number;
  /** The next automatic retry, as planned at the last call. */
  readonly nextAt: Date | null;
}
