/** How often an account may have the login of an enterprise checked (docs/contract.md#credentials). */
import { montevideoDate, secondsToMidnight } from './montevideo.ts';

/** Checks a day in Montevideo, while no certificate proves who owns the RUT. @internal exported for tests */
export const UNPROVEN_A_DAY = 20;
/**
 * Checks with a login of their own that may fail in a day in Montevideo, over all enterprises of an account: a password is
 * not to be tried on one RUT after the other. Those under way count, since they may fail.
 */
export const FAILED_A_DAY = 50;
/** Seconds after which an account whose checks are still under way may ask again. */
export const UNDER_WAY_SECONDS = 60;
/** Failures in a row that have no consequence. @internal exported for tests */
export const FREE_FAILURES = 5;
const FIRST_PAUSE_SECONDS = 60;
const LONGEST_PAUSE_SECONDS = 86_400;

/** The checks that an account asked for at an enterprise. */
export interface ChecksSoFar {
  /** The day in Montevideo, `YYYY-MM-DD`, that `checks` are of. */
  readonly day: string;
  readonly checks: number;
  /** Failures since the last success. */
  readonly failures: number;
  /** The moment of the last failure. */
  readonly failedAt: Date | null;
}

/** How long the next check must wait, and why, in words. */
export interface Pause {
  readonly seconds: number;
  readonly why: string;
}

/** Why the next check must wait, in words, and for how many seconds; null when it need not. */
export function credentialsPause(
  { day, checks, failures, failedAt }: ChecksSoFar,
  { now, isProven }: { now: Date; isProven: boolean },
): Pause | null {
  if (failedAt && failures >= FREE_FAILURES) {
    const pause = Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (failures - FREE_FAILURES));
    const seconds = secondsUntil(new Date(failedAt.getTime() + pause * 1_000), now);
    if (seconds > 0) return { seconds, why: `The login failed ${failures} times in a row` };
  }
  const today = montevideoDate(now);
  if (isProven || day !== today || checks < UNPROVEN_A_DAY) return null;
  const why = `Until a valid certificate of the enterprise is uploaded, its login is checked ${UNPROVEN_A_DAY} times a day`;
  return { seconds: secondsToMidnight(now), why };
}

const secondsUntil = (moment: Date, now: Date): number =>
  Math.ceil((moment.getTime() - now.getTime()) / 1_000);
