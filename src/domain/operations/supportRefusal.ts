/**
 * Reasons for refusing an action of support or an item of a bulk run; src/words has their words. Rows
 * and histories store them, so do not rename any. Imports nothing: workflows use it.
 */
export const SUPPORT_REFUSALS = [
  /** The CFE was never sent to the authority. */
  'never_sent',
  /** The authority has the CFE's number from another system's sobre. */
  'others',
  /** The authority refused the sobre. */
  'sobre_refused',
  /** The authority has neither the sobre nor the CFE's number. */
  'absent',
  /** The authority has the CFE. */
  'held',
  /** The CFE was sent recently and may not be listed yet; the value: when the authority's list is reliable (RFC 3339). */
  'lately_sent',
  /** The value: the failure, by the table of outcomes. */
  'no_answer',
  /** The authority's answer itself needs support; the value: the reason. */
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

/** A reason of refusal with the value in its words. */
export interface RefusalReason {
  readonly code: SupportRefusal;
  readonly value?: string;
}
