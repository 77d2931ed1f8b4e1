/**
 * Why a CFE, or the report of a day, waits for a person: the closed set that rows, the search attribute StuckReason, the CLI's filter and the
 * table of outcomes share. What leads to each stands in docs/outcomes.md. Imports nothing, so that workflows may use it.
 */

export const STUCK_REASONS = [
  /** A private key cannot be opened, so nothing can be signed. */
  'signing',
  /** The authority answers, but has given no verdict for longer than CFE_PATIENCE. */
  'undecided',
  /** A step keeps failing by a mistake of ours; it is tried again by itself, and support can do nothing. */
  'internal',
  'sobre.unknown_refusal',
  'sobre.refused_without_reasons',
  'verdict.unknown_state',
  'verdict.other_cfe',
  'duplicate.not_ours',
  'authority.our_mistake',
  'authority.certificate',
  'authority.caller',
  'authority.user',
  'authority.no_permission',
  'authority.not_an_issuer',
  'authority.certification_stage',
  'authority.unknown_code',
  'authority.signature_refused',
  'authority.untrusted_signer',
] as const;

/** Why the report of a day waits for a person, besides `undecided` and those of the authority's services. */
export const REPORT_STUCK_REASONS = [
  /** R01 to R04, and codes that no rule covers. */
  'report.format',
  'report.company',
  'report.signature',
  'report.content',
  'report.unknown_refusal',
  /** A report of the day at the authority is another system's. */
  'report.other_system',
  /** ER: the authority holds other CFEs than the report says. */
  'report.differs',
  'report.unknown_state',
  'report.last_sequence',
] as const;

export type StuckReason = (typeof STUCK_REASONS)[number] | (typeof REPORT_STUCK_REASONS)[number];
