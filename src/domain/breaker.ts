/** When a service of the authority counts as away, and who tries it again when (docs/decisions/gate.md). */

/** The authority's services, the check of logins and the central bank's rates, each with a breaker of its own. */
export const ENDPOINTS = [
  'production/reception',
  'production/consultation',
  'production/registry',
  'sandbox/reception',
  'sandbox/consultation',
  'sandbox/registry',
  'credentials',
  'rates',
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** So many calls in a row without an answer mean that the endpoint is away. @internal exported for tests */
export const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MILLISECONDS = 1_000;
/** Between two probes at most; a probe that has not ended after so long is given up as lost. */
const LONGEST_PAUSE_MILLISECONDS = 60_000;

/** What is known of an endpoint. Open means that nothing goes there but a probe now and then. */
export interface Breaker {
  /** Calls without an answer since the last answer. */
  failures: number;
  openSince: Date | null;
  /** While it is open: when the next probe may go. */
  nextProbeAt: Date | null;
  /** While it is open: how many probes failed or are under way. */
  probes: number;
  /** While it is open: the sobre whose send is the probe, in place of any other call. */
  proberId: string | null;
}

/** Milliseconds between the last probe and the next: 1 s, doubling to 60 s. */
const pauseAfter = (probes: number): number =>
  Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** Math.min(probes, 10), LONGEST_PAUSE_MILLISECONDS);

/** When the next probe may go; each pause is shortened by up to a fifth, `chance` from 0 to 1. */
function nextProbe({ probes }: Breaker, now: Date, chance: number): Date {
  return new Date(now.getTime() + Math.round(pauseAfter(probes) * (1 - chance / 5)));
}

/** Counts a call that had no answer; of those that ended while it is open, only the probe's moves the next one. */
export function countFailure(
  breaker: Breaker,
  { wasProbe, now, chance }: { wasProbe: boolean; now: Date; chance: number },
): void {
  if (breaker.openSince !== null) {
    if (wasProbe) breaker.nextProbeAt = nextProbe(breaker, now, chance);
    return;
  }
  breaker.failures += 1;
  if (breaker.failures < FAILURES_TO_OPEN) return;
  breaker.openSince = now;
  breaker.nextProbeAt = nextProbe(breaker, now, chance);
}

/** Whether the time of the next probe has come. */
export const isProbeDue = ({ nextProbeAt }: Pick<Breaker, 'nextProbeAt'>, now: Date): boolean =>
  nextProbeAt !== null && nextProbeAt <= now;

/**
 * In how many milliseconds whoever is to probe looks again: when the next probe may go, or sooner while one is under way
 * that may yet fail, or close the breaker.
 */
export function nextLookIn({ nextProbeAt, probes }: Readonly<Breaker>, now: Date): number {
  if (nextProbeAt === null || nextProbeAt <= now) return 0;
  return Math.min(nextProbeAt.getTime() - now.getTime(), pauseAfter(probes));
}

/** Whether a probe may go now; if so it is counted, and the next one waits for its end. */
export function beginProbe(breaker: Breaker, now: Date): boolean {
  if (!isProbeDue(breaker, now)) return false;
  breaker.probes += 1;
  breaker.nextProbeAt = new Date(now.getTime() + LONGEST_PAUSE_MILLISECONDS);
  return true;
}

/** Lets everything through again: a probe was answered. */
export function close(breaker: Breaker): void {
  breaker.failures = 0;
  breaker.openSince = null;
  breaker.nextProbeAt = null;
  breaker.probes = 0;
  breaker.proberId = null;
}
