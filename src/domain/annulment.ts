/** Why numbers are annulled (docs/contract.md#numbers). */
export type AnnulmentReason =
  /** The authority rejected the CFE for good. */
  | 'rejected'
  /** Support gave the CFE up, and the authority does not have it. */
  | 'abandoned'
  /** A note whose original was rejected. */
  | 'reference.rejected'
  /** The CAE expired before the numbers were given. */
  | 'cae.expired'
  /** An operator annulled numbers that were never given. */
  | 'by_hand';
