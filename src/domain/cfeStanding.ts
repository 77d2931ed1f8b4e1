/** Where a CFE stands on its way, what comes next, and what a person can do now: the one place of these rules. */
import { type CfeStatus, isFinal } from './cfeStatus.ts';
import type { StuckReason } from './stuckReason.ts';
import type { SupportAction } from './supportAction.ts';

/** What follows is decided from. */
export interface CfeFacts {
  readonly status: CfeStatus;
  readonly stuckReason: StuckReason | null;
  readonly isSigned: boolean;
  /** Rejected for E06 alone, its number neither accepted nor annulled yet. */
  readonly isNumberUndecided: boolean;
}

/** The number belongs to another: the authority never had this CFE, though it has its sobre. */
const NUMBER_OF_OTHERS: readonly StuckReason[] = ['duplicate.not_ours', 'verdict.other_cfe'];

/** Whether support has to act; what fails by a mistake of ours is tried again by itself, and waits for the developers. */
export const isForSupport = (reason: StuckReason | null): boolean => reason !== null && reason !== 'internal';

/**
 * What support can do for a CFE that stands so, the usual one first; none where it goes on by itself. The workflow offers the
 * same (src/workflows/issueCfe.ts), and whether a CFE may really be abandoned is asked of the authority then.
 */
export function fittingActions({
  status,
  stuckReason,
  isSigned,
  isNumberUndecided,
}: CfeFacts): SupportAction[] {
  if (isNumberUndecided) return ['settle', 'abandon'];
  if (stuckReason === null || !isForSupport(stuckReason) || isFinal(status)) return [];
  if (status === 'PENDING') return isSigned ? ['retry', 'settle', 'abandon'] : ['retry', 'abandon'];
  return NUMBER_OF_OTHERS.includes(stuckReason) ? ['retry', 'settle', 'abandon'] : ['retry', 'settle'];
}

/** What a CFE waits for; `ended`: nothing. */
export const NEXT_STEPS = [
  'ended',
  'support',
  'portal',
  'sign',
  'original',
  'authority',
  'slot',
  'send',
  'ask',
] as const;
export type NextStep = (typeof NEXT_STEPS)[number];

/** What else the next step hangs on. */
export interface CfeSurroundings {
  /** Of the CFE that a note corrects. */
  readonly originalStatus: CfeStatus | null;
  /** Whether the service that it needs next is away. */
  readonly isAuthorityAway: boolean;
  /** Whether it stands in the queue at the gate and was not called. */
  readonly isQueued: boolean;
}

/** What a CFE that stands so waits for. */
export function nextStep(facts: CfeFacts, around: CfeSurroundings): NextStep {
  const { status, stuckReason, isSigned, isNumberUndecided } = facts;
  if (isNumberUndecided) return 'portal';
  if (isFinal(status)) return 'ended';
  if (stuckReason !== null) return 'support';
  if (status === 'PENDING' && !isSigned) return 'sign';
  const { originalStatus } = around;
  if (status === 'PENDING' && originalStatus !== null && !isFinal(originalStatus)) return 'original';
  if (around.isAuthorityAway) return 'authority';
  if (status === 'RECEIVED') return 'ask';
  return around.isQueued ? 'slot' : 'send';
}
