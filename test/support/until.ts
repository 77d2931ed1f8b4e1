import { until as untilOf } from '../../local/demo/until.ts';

/**
 * Deadlines in tests are written for a quiet machine with two cores and count this many times, so that a slow or a
 * busy one passes too: they end what hangs, and prove nothing.
 */
export const PATIENCE = 5;

/** `until` of the demo, with patience. */
export const until: typeof untilOf = (what, seconds, look) => untilOf(what, seconds * PATIENCE, look);
