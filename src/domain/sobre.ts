/** The most CFEs of a sobre (docs/authority/sobres.md). */
export const MOST_CFES = 250;
/** The authority takes a sobre of 2 MB; what stands around the CFEs has its part of it. */
export const MOST_SOBRE_BYTES = 2_000_000 - 10_000;
