/** The status of a CFE and its allowed changes (docs/contract.md#cfe-status). Imports nothing: workflows use it. */

export const CFE_STATUSES = ['PENDING', 'RECEIVED', 'ACCEPTED', 'REJECTED', 'OBSERVED'] as const;
export type CfeStatus = (typeof CFE_STATUSES)[number];
/** The verdicts. */
export type FinalStatus = 'ACCEPTED' | 'REJECTED' | 'OBSERVED';

const MOVES: Readonly<Record<CfeStatus, readonly CfeStatus[]>> = {
  /** Straight to a final status when a query returns the verdict before the answer to the sobre was seen. */
  PENDING: ['RECEIVED', 'ACCEPTED', 'REJECTED', 'OBSERVED'],
  RECEIVED: ['ACCEPTED', 'REJECTED', 'OBSERVED'],
  ACCEPTED: [],
  REJECTED: [],
  OBSERVED: [],
};

/**
 * The only change of a final status: the authority's portal may accept a CFE that was rejected for E06 only
 * (docs/contract.md#rejected-for-e06). Only the query for this acceptance applies it, never a late verdict.
 */
export const WITHDRAWN_REJECTION = { from: 'REJECTED', to: 'ACCEPTED' } as const;

/** True when a CFE may change from one status to the other; an unchanged status is not a change. */
export function canBecome(from: CfeStatus, to: CfeStatus): boolean {
  return MOVES[from].includes(to);
}

/** True for a verdict, which never changes except by WITHDRAWN_REJECTION. */
export function isFinal(status: CfeStatus): status is FinalStatus {
  return MOVES[status].length === 0;
}
