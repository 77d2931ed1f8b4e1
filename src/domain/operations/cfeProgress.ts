/** The rules on the next step of a CFE and on the actions that support can take. */

import type { StuckReason } from '../authority/stuckReason.ts';
import { type CfeStatus, isFinal } from '../receipts/cfeStatus.ts';
import { SUPPORT_ACTIONS, type SupportAction } from './supportAction.ts';
import type { SupportRefusal } from './supportRefusal.ts';

/** The facts of a CFE that decide its next step. */
export interface CfeProgress {
  readonly status: CfeStatus;
  readonly stuckReason: StuckReason | null;
  readonly isSigned: boolean;
  /** Rejected for E06 only, its number neither accepted nor annulled yet. */
  readonly isNumberUndecided: boolean;
}

/** The number belongs to another CFE: the authority has the sobre, but never had this CFE. */
const NUMBER_OF_OTHERS: readonly StuckReason[] = ['duplicate.not_ours', 'verdict.other_cfe'];

/** True when support has to act; after a bug the step is retried automatically until the developers fix it. */
export const needsSupport = (reason: StuckReason | null): boolean => reason !== null && reason !== 'internal';

/**
 * Returns the actions that support can take, the usual one first; empty when the CFE continues automatically. The workflow
 * allows the same (src/workflows/issueCfes.ts) and asks the authority before it abandons a CFE.
 */
export function allowedSupportActions({
  status,
  stuckReason,
  isSigned,
  isNumberUndecided,
}: CfeProgress): SupportAction[] {
  if (isNumberUndecided) return ['settle', 'abandon'];
  if (stuckReason === null || !needsSupport(stuckReason) || isFinal(status)) return [];
  if (status === 'PENDING') return isSigned ? ['retry', 'settle', 'abandon'] : ['retry', 'abandon'];
  return NUMBER_OF_OTHERS.includes(stuckReason) ? ['retry', 'settle', 'abandon'] : ['retry', 'settle'];
}

/** The number of stuck CFEs with the same facts. */
export interface StuckKind {
  readonly status: CfeStatus;
  readonly stuckReason: StuckReason;
  readonly isSigned: boolean;
  readonly count: number;
}

/**
 * Counts the stuck CFEs for which an action is allowed, and the refusals by reason. `left`: CFEs that continue
 * automatically (`needsSupport`). The authority is asked only when the action runs, and may cause more refusals.
 */
export function forecastSupportAction(
  action: SupportAction,
  kinds: readonly StuckKind[],
): { fits: number; refused: ReadonlyMap<SupportRefusal, number>; left: number } {
  let [fits, left] = [0, 0];
  const refused = new Map<SupportRefusal, number>();
  for (const { count, ...facts } of kinds) {
    if (allowedSupportActions({ ...facts, isNumberUndecided: false }).includes(action)) fits += count;
    else if (!needsSupport(facts.stuckReason)) left += count;
    else {
      const why = action === 'abandon' ? 'held' : 'never_sent';
      refused.set(why, (refused.get(why) ?? 0) + count);
    }
  }
  return { fits, refused, left };
}

/** Returns the actions that are allowed for at least one of the CFEs. */
export const actionsForStuckKinds = (kinds: readonly StuckKind[]): SupportAction[] =>
  SUPPORT_ACTIONS.filter((action) => forecastSupportAction(action, kinds).fits > 0);

/** The next step of a CFE; `ended`: none. */
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

/** The facts outside the CFE that decide its next step. */
export interface CfeSurroundings {
  /** Status of a referred CFE without a verdict; null without such a CFE. */
  readonly originalStatus: CfeStatus | null;
  /** Whether the service for the next call is unavailable. */
  readonly isAuthorityAway: boolean;
  /** Whether the CFE waits in the rate limiter's queue without a slot. */
  readonly isQueued: boolean;
}

/** Returns the next step of a CFE. */
export function nextStepOfCfe(facts: CfeProgress, surroundings: CfeSurroundings): NextStep {
  const { status, stuckReason, isSigned, isNumberUndecided } = facts;
  if (isNumberUndecided) return 'portal';
  if (isFinal(status)) return 'ended';
  if (stuckReason !== null) return 'support';
  if (status === 'PENDING' && !isSigned) return 'sign';
  const { originalStatus } = surroundings;
  if (status === 'PENDING' && originalStatus !== null && !isFinal(originalStatus)) return 'original';
  if (surroundings.isAuthorityAway) return 'authority';
  if (status === 'RECEIVED') return 'ask';
  return surroundings.isQueued ? 'slot' : 'send';
}
