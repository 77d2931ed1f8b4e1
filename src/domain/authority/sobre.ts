/**
 * Returns the first Idemisor of an enterprise whose first sobre is made on `day` (`YYYY-MM-DD`): `yymmdd0001`, far from those
 * of a system that counts from 1, as the authority refuses a known one (Formato Sobre v05, A-7).
 */
export const firstIdemisor = (day: string): bigint => BigInt(day.slice(2).replaceAll('-', '')) * 10_000n + 1n;

/** The lowest Idemisor that may be set as the next: a stored 0 before it means that none was set. */
export const FIRST_IDEMISOR = 2;
/** The largest Idemisor: ten digits. */
export const LAST_IDEMISOR = 9_999_999_999;

/** The most CFEs of a sobre (docs/authority/sobres.md). */
export const MOST_CFES = 250;
/** The authority accepts 2 MB; leaves room for the elements around the CFEs. */
export const MOST_SOBRE_BYTES = 2_000_000 - 10_000;
