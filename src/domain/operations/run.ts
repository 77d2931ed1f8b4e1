/** Bulk runs: one action on many stuck CFEs or many undelivered events (docs/operations.md#bulk-runs). */

import type { StuckReason } from '../authority/stuckReason.ts';
import type { CfeStatus } from '../receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../receipts/cfeTypes.ts';
import { REASON_LENGTH, SUPPORT_ACTIONS, type SupportOutcome } from './supportAction.ts';
import type { RefusalReason } from './supportRefusal.ts';

/** The action of a run on its items: an action of support on CFEs, or sending deliveries again. */
export const RUN_KINDS = [...SUPPORT_ACTIONS, 'redeliver'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

export const RUN_STATES = ['RUNNING', 'DONE', 'STOPPED'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Selects stuck CFEs; all conditions must match. */
export interface StuckCfeFilter {
  rut?: string | undefined;
  environment?: Environment | undefined;
  type?: CfeType | undefined;
  status?: CfeStatus | undefined;
  stuckReason?: StuckReason | undefined;
  /** Created at this moment or later, RFC 3339. */
  since?: string | undefined;
}

/** Selects undelivered deliveries: given up, or waiting for their next retry. */
export interface UndeliveredFilter {
  webhook?: string | undefined;
  event?: string | undefined;
  /** Given up, or last refused, at this moment or later, RFC 3339. */
  since?: string | undefined;
}

/** The selection of a run: a filter or ticked ids, and optionally a limit, oldest first. */
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

/** Returns the conditions of a filter that apply to this kind of run. */
export function pickRunFilter(kind: RunKind, filter: RunFilter): RunFilter {
  const fields: readonly (keyof RunFilter)[] = kind === 'redeliver' ? UNDELIVERED_FIELDS : STUCK_FIELDS;
  return Object.fromEntries(
    fields.flatMap((name) => (filter[name] === undefined ? [] : [[name, filter[name]]])),
  );
}

/** The outcome of one item of a run. */
export type RunOutcome = SupportOutcome | 'redelivered' | 'nothing_to_do';
export interface ItemResult {
  readonly outcome: RunOutcome;
  /** For people. */
  readonly message: string;
  /** The reason of a refusal. */
  readonly why?: RefusalReason | undefined;
}

/** The progress of a run: `unneeded` items no longer needed the action. */
export interface RunCounts {
  readonly total: number;
  readonly done: number;
  readonly unneeded: number;
  readonly refused: number;
}

/** Longest reason of a run, in characters: the audit appends its id. */
export const RUN_REASON_LENGTH = REASON_LENGTH - 50;
/** Returns the reason in the audit of each item. */
export const runAuditReason = (run: { reason: string; id: string }): string => `${run.reason} (${run.id})`;

/** Returns the field of `RunCounts` that counts an outcome. */
export function runCountOf(outcome: RunOutcome): 'done' | 'unneeded' | 'refused' {
  if (outcome === 'refused') return 'refused';
  return outcome === 'nothing_to_do' ? 'unneeded' : 'done';
}

/** Returns the number of processed items. */
export const processedCount = ({ done, unneeded, refused }: RunCounts): number => done + unneeded + refused;
