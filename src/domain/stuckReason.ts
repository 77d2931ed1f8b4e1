/**
 * Why a CFE waits for a person: the closed set that rows, the search attribute StuckReason, the CLI's filter and the
 * table of outcomes share. What leads to each stands in docs/outcomes.md. Imports nothing, so that workflows may use it.
 */

export const STUCK_REASONS = [
  /** A private key cannot be opened, so nothing can be signed. */
  'signing',
  /** The authority answers, but has given no verdict for longer than CFE_PATIENCE. */
  'undecided',
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
export type StuckReason = (typeof STUCK_REASONS)[number];
