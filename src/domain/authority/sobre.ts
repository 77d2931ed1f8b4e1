/** The most CFEs of a sobre (docs/authority/sobres.md). */
export const MOST_CFES = 250;
/** The authority accepts 2 MB; leaves room for the elements around the CFEs. */
export const MOST_SOBRE_BYTES = 2_000_000 - 10_000;
