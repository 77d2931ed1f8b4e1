/** Where a CFE stands on its way, what comes next, and what a person can do now: the one place of these rules. */
import { type CfeStatus, isFinal } from './cfeStatus.ts';
import type { StuckReason } from './stuckReason.ts';
import { SUPPORT_ACTIONS, type SupportAction } from './supportAction.ts';
import type { SupportRefusal } from './supportRefusal.ts';

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
 * same (src/workflows/issueCfes.ts), and whether a CFE may really be abandoned is asked of the authority then.
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

/** How many stuck CFEs stand alike, as far as it decides what can be done. */
export interface StuckKind {
  readonly status: CfeStatus;
  readonly stuckReason: StuckReason;
  readonly isSigned: boolean;
  readonly count: number;
}

/**
 * What would become of stuck CFEs, were one action begun with all of them, as they stand: how many it fits, and how many
 * would be refused and why; those left alone go on by themselves (`isForSupport`). What only the authority knows is asked then, and may refuse more.
 */
export function fitOf(
  action: SupportAction,
  kinds: readonly StuckKind[],
): { fits: number; refused: ReadonlyMap<SupportRefusal, number>; left: number } {
  let [fits, left] = [0, 0];
  const refused = new Map<SupportRefusal, number>();
  for (const { count, ...facts } of kinds) {
    if (fittingActions({ ...facts, isNumberUndecided: false }).includes(action)) fits += count;
    else if (!isForSupport(facts.stuckReason)) left += count;
    else {
      const why = action === 'abandon' ? 'held' : 'never_sent';
      refused.set(why, (refused.get(why) ?? 0) + count);
    }
  }
  return { fits, refused, left };
}

/** The actions that fit at least one of them. */
export const actionsFor = (kinds: readonly StuckKind[]): SupportAction[] =>
  SUPPORT_ACTIONS.filter((action) => fitOf(action, kinds).fits > 0);

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
