/**
 * Reasons why a CFE or a daily report needs support, shared by rows, the search attribute StuckReason, the CLI's filter and
 * the table of outcomes; docs/outcomes.md shows their causes. Imports nothing, so that workflows may use it.
 */

export const STUCK_REASONS = [
  /** A private key cannot be opened, so nothing can be signed. */
  'signing',
  /** The authority answers, but has given no verdict for longer than CFE_PATIENCE. */
  'undecided',
  /** A step keeps failing because of a bug; it is retried automatically, and support can do nothing. */
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

/** Further reasons of daily reports, in addition to `undecided` and those of the authority's services. */
export const REPORT_STUCK_REASONS = [
  /** R01 to R04, and unknown codes. */
  'report.format',
  'report.company',
  'report.signature',
  'report.content',
  'report.unknown_refusal',
  /** The authority has a report of the day from another system. */
  'report.other_system',
  /** ER: the authority's CFEs differ from the report. */
  'report.differs',
  'report.unknown_state',
  'report.last_sequence',
] as const;

export type StuckReason = (typeof STUCK_REASONS)[number] | (typeof REPORT_STUCK_REASONS)[number];
