/** How sends follow one another. */

/** The longest wait within a process; a sobre that would have to wait longer waits in the database. */
export const NEAR_MILLISECONDS = 3_500;
/** A CFE that is taken now gets a slot of its own up to so far ahead. */
export const AT_ONCE_MILLISECONDS = 100;
/** Slots are given up to here: a look at what waits comes every 250 ms. */
export const HORIZON_MILLISECONDS = 3_000;
const LEAST_TOLERANCE_MILLISECONDS = 50;
const MOST_TOLERANCE_MILLISECONDS = 250;

/** The pause between two sends at a rate, in whole milliseconds, so that the rate is never exceeded. */
export const spacingOf = (sendsPerSecond: number): number => Math.ceil(1_000 / sendsPerSecond);

/** How late a send may use its slot: who is later takes another, so that late ones do not go all at once. */
export const toleranceOf = (spacingMilliseconds: number): number =>
  Math.min(Math.max(spacingMilliseconds, LEAST_TOLERANCE_MILLISECONDS), MOST_TOLERANCE_MILLISECONDS);

/**
 * Milliseconds for measuring spans within this process: nobody can set it, unlike the clock on the wall. A test's clock
 * stands in for it.
 */
export const stopwatchBy =
  (clock?: () => Date): (() => number) =>
  () =>
    clock?.().getTime() ?? performance.now();
