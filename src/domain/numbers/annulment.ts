/** Why numbers are annulled (docs/contract.md#numbers). */
export type AnnulmentReason =
  /** The authority rejected the CFE permanently. */
  | 'rejected'
  /** Support gave the CFE up, and the authority does not have it. */
  | 'abandoned'
  /** A note whose original was rejected. */
  | 'reference.rejected'
  /** The CAE expired with unused numbers. */
  | 'cae.expired'
  /** An operator annulled unused numbers. */
  | 'by_hand';
