/** Decides when a service of the authority is unavailable and when it is probed (docs/decisions/gate.md). */

/** The authority's services, the credentials check and the central bank's rates, each with its own breaker. */
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

/** Consecutive calls without an answer that open the breaker. @internal exported for tests */
export const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MILLISECONDS = 1_000;
/** The longest pause between two probes, after which a running probe counts as lost. */
const LONGEST_PAUSE_MILLISECONDS = 60_000;

/** The breaker of an endpoint. While it is open, only probes are sent. */
export interface Breaker {
  /** Calls without an answer since the last answer. */
  failures: number;
  openSince: Date | null;
  /** While open: the earliest next probe. */
  nextProbeAt: Date | null;
  /** While open: the number of failed and running probes. */
  probes: number;
  /** While open: the sobre that is the only probe. */
  proberId: string | null;
}

/** Returns the pause before the next probe in milliseconds: 1 s, doubling to 60 s. */
const pauseAfter = (probes: number): number =>
  Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** Math.min(probes, 10), LONGEST_PAUSE_MILLISECONDS);

/** Returns the time of the next probe; jitter (`chance` from 0 to 1) shortens the pause by up to a fifth. */
function nextProbe({ probes }: Breaker, now: Date, chance: number): Date {
  return new Date(now.getTime() + Math.round(pauseAfter(probes) * (1 - chance / 5)));
}

/** Counts a call without an answer. While the breaker is open, only a failed probe delays the next probe. */
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

export const isProbeDue = ({ nextProbeAt }: Pick<Breaker, 'nextProbeAt'>, now: Date): boolean =>
  nextProbeAt !== null && nextProbeAt <= now;

/** Returns the wait before the prober checks again: until the next probe, or less while a probe runs. */
export function millisecondsToNextProbeCheck({ nextProbeAt, probes }: Readonly<Breaker>, now: Date): number {
  if (nextProbeAt === null || nextProbeAt <= now) return 0;
  return Math.min(nextProbeAt.getTime() - now.getTime(), pauseAfter(probes));
}

/** Counts and permits a probe if one is due; returns false otherwise. The next probe waits for the end of this one. */
export function startProbe(breaker: Breaker, now: Date): boolean {
  if (!isProbeDue(breaker, now)) return false;
  breaker.probes += 1;
  breaker.nextProbeAt = new Date(now.getTime() + LONGEST_PAUSE_MILLISECONDS);
  return true;
}

/** Closes the breaker after a probe was answered. */
export function closeBreaker(breaker: Breaker): void {
  breaker.failures = 0;
  breaker.openSince = null;
  breaker.nextProbeAt = null;
  breaker.probes = 0;
  breaker.proberId = null;
}
