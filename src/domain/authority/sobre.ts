/**
 * Returns the first Idemisor of an enterprise whose first sobre is of `day` (`YYYY-MM-DD`): `yymmdd0001`. The authority refuses
 * repeated numbers (Formato Sobre v05, A-7), and another system may have counted from 1.
 */
export const firstIdemisor = (day: string): bigint => BigInt(day.slice(2).replaceAll('-', '')) * 10_000n + 1n;

/** The lowest Idemisor that may be set as the next: the number before it is stored, and 0 means that none was set. */
export const FIRST_IDEMISOR = 2;
/** The largest Idemisor: ten digits. */
export const LAST_IDEMISOR = 9_999_999_999;

/** The most CFEs of a sobre (docs/authority/sobres.md). */
export const MOST_CFES = 250;
/** The authority accepts 2 MB; leaves room for the elements around the CFEs. */
export const MOST_SOBRE_BYTES = 2_000_000 - 10_000;
