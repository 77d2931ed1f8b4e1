/** Calls to the authority for a CFE, as they are kept (docs/operations.md#what-was-said-to-the-authority). */
import type { RejectionReason } from './rejection.ts';

/** What is asked of the authority for a CFE. */
export const ATTEMPT_OPERATIONS = ['sendSobre', 'askVerdict', 'findSobre', 'findCfe'] as const;
export type AttemptOperation = (typeof ATTEMPT_OPERATIONS)[number];

/** One call, and what came of it. */
export interface Attempt {
  readonly operation: AttemptOperation;
  /** As the table of outcomes names it (docs/outcomes.md), or the authority's state of the receipt. */
  readonly answer: string;
  /** What it came to, by the table of outcomes. */
  readonly result: string;
  readonly at: Date;
  readonly milliseconds: number;
  /** A status or code in place of an answer. */
  readonly detail: string | null;
  /** The authority's own words. */
  readonly reasons: readonly RejectionReason[];
  /** The parameters that were sent; null for a sobre, which is stored. */
  readonly request: string | null;
  readonly response: Uint8Array | null;
}

/** All calls that asked the same and were answered the same: the first and the last of them. */
export interface AttemptSummary extends Omit<Attempt, 'at' | 'milliseconds' | 'request' | 'response'> {
  readonly count: number;
  readonly firstAt: Date;
  readonly firstMilliseconds: number;
  readonly lastAt: Date;
  readonly lastMilliseconds: number;
  /** When the step is taken again by itself, as far as the last one knew. */
  readonly nextAt: Date | null;
}
