/**
 * Where a CFE stands and which way it may go: the one table of moves (docs/contract.md#cfe-status). Imports nothing, so
 * that workflows may use it.
 */

export const CFE_STATUSES = ['PENDING', 'RECEIVED', 'ACCEPTED', 'REJECTED', 'OBSERVED'] as const;
export type CfeStatus = (typeof CFE_STATUSES)[number];
/** The verdicts: what a CFE ends as. */
export type FinalStatus = 'ACCEPTED' | 'REJECTED' | 'OBSERVED';

const MOVES: Readonly<Record<CfeStatus, readonly CfeStatus[]>> = {
  /** Straight to a final state where the verdict is learnt by asking, before any receipt was seen. */
  PENDING: ['RECEIVED', 'ACCEPTED', 'REJECTED', 'OBSERVED'],
  RECEIVED: ['ACCEPTED', 'REJECTED', 'OBSERVED'],
  ACCEPTED: [],
  REJECTED: [],
  OBSERVED: [],
};

/**
 * The one move out of a final status: the authority may accept, in its portal, what it rejected for E06 alone
 * (docs/contract.md#rejected-for-e06). Only who has asked for just that makes it; a verdict that comes late does not.
 */
export const WITHDRAWN_REJECTION = { from: 'REJECTED', to: 'ACCEPTED' } as const;

/** Whether a CFE may go from one status to the other; staying is no move. */
export function canBecome(from: CfeStatus, to: CfeStatus): boolean {
  return MOVES[from].includes(to);
}

/** Whether a status is a verdict; it never changes again, but for WITHDRAWN_REJECTION. */
export function isFinal(status: CfeStatus): status is FinalStatus {
  return MOVES[status].length === 0;
}
