/**
 * Bulk runs: one decision of a person for many CFEs that wait for support, or for many deliveries that did not arrive
 * (docs/operations.md#bulk-runs).
 */
import type { CfeStatus } from './cfeStatus.ts';
import type { CfeType, Environment } from './cfeTypes.ts';
import type { StuckReason } from './stuckReason.ts';
import { REASON_LENGTH, SUPPORT_ACTIONS, type SupportOutcome } from './supportAction.ts';
import type { RefusalReason } from './supportRefusal.ts';

/** What a run does with each of its things: acts of support on CFEs, or sending deliveries again. */
export const RUN_KINDS = [...SUPPORT_ACTIONS, 'redeliver'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

export const RUN_STATES = ['RUNNING', 'DONE', 'STOPPED'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Which stuck CFEs: every condition that is given must hold. */
export interface StuckCfeFilter {
  rut?: string | undefined;
  environment?: Environment | undefined;
  type?: CfeType | undefined;
  status?: CfeStatus | undefined;
  stuckReason?: StuckReason | undefined;
  /** Created at this moment or later, RFC 3339. */
  since?: string | undefined;
}

/** Which deliveries of those that did not arrive: given up, or waiting for their next retry. */
export interface UndeliveredFilter {
  webhook?: string | undefined;
  event?: string | undefined;
  /** Given up, or last refused, at this moment or later, RFC 3339. */
  since?: string | undefined;
}

/** What a run was started with: its filter, or those that were ticked, and at most how many of them, oldest first. */
export type RunFilter = StuckCfeFilter &
  UndeliveredFilter & { ids?: readonly string[] | undefined; limit?: number | undefined };

const STUCK_FIELDS = [
  'rut',
  'environment',
  'type',
  'status',
  'stuckReason',
  'since',
  'ids',
  'limit',
] as const;
const UNDELIVERED_FIELDS = ['webhook', 'event', 'since', 'ids', 'limit'] as const;

/** What of a filter counts for runs of that kind: nothing else is kept, told or searched by. */
export function pickRunFilter(kind: RunKind, filter: RunFilter): RunFilter {
  const fields: readonly (keyof RunFilter)[] = kind === 'redeliver' ? UNDELIVERED_FIELDS : STUCK_FIELDS;
  return Object.fromEntries(
    fields.flatMap((name) => (filter[name] === undefined ? [] : [[name, filter[name]]])),
  );
}

/** What became of one thing of a run. */
export type RunOutcome = SupportOutcome | 'redelivered' | 'nothing_to_do';
export interface ItemResult {
  readonly outcome: RunOutcome;
  /** For people. */
  readonly message: string;
  /** Of what was refused, as a code. */
  readonly why?: RefusalReason | undefined;
}

/** How far a run is: `done` were acted on, `unneeded` no longer needed it, `refused` were not done. */
export interface RunCounts {
  readonly total: number;
  readonly done: number;
  readonly unneeded: number;
  readonly refused: number;
}

/** Longest reason of a run, in characters: its id is put behind it in the audit. */
export const RUN_REASON_LENGTH = REASON_LENGTH - 50;
/** As it stands in the audit of each thing that a run acts on. */
export const runAuditReason = (run: { reason: string; id: string }): string => `${run.reason} (${run.id})`;

/** The column of `RunCounts` that an outcome counts in. */
export function runCountOf(outcome: RunOutcome): 'done' | 'unneeded' | 'refused' {
  if (outcome === 'refused') return 'refused';
  return outcome === 'nothing_to_do' ? 'unneeded' : 'done';
}

/** How many have been looked at. */
export const processedCount = ({ done, unneeded, refused }: RunCounts): number => done + unneeded + refused;
