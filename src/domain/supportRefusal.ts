/**
 * Why an act of support, or one thing of a bulk run, was refused: a closed set, whose words stand in
 * src/domain/words/refusals.ts. They are stored and stand in histories: none is renamed. Imports nothing: workflows use it.
 */
export const SUPPORT_REFUSALS = [
  /** The authority was never sent it. */
  'never_sent',
  /** The authority has its number from a sobre of others. */
  'others',
  /** The authority refused the sobre. */
  'sobre_refused',
  /** The authority has neither sobre nor number. */
  'absent',
  /** The authority has it. */
  'held',
  /** It was sent a moment ago, and may be listed yet; the value: from which moment on it can be told (RFC 3339). */
  'lately_sent',
  /** The value: what came in place of an answer, by the table of outcomes. */
  'no_answer',
  /** The authority's answer needs a person itself; the value: the reason. */
  'stuck',
  'moved_on',
  'unknown_sobre',
  'not_accepted',
  'accepted_for_others',
  'decided_meanwhile',
  'under_way',
  'not_reached',
  'webhook_removed',
] as const;
export type SupportRefusal = (typeof SUPPORT_REFUSALS)[number];

/** A refusal with what its words name. */
export interface RefusalReason {
  readonly code: SupportRefusal;
  readonly value?: string;
}
