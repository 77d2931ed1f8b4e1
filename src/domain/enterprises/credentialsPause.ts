/** Limits the checks of an enterprise's login (docs/contract.md#credentials). */
import { montevideoDate, secondsToMidnight } from '../values/montevideo.ts';

/** Checks per day in Montevideo without a certificate that proves ownership of the RUT. @internal exported for tests */
export const UNPROVEN_A_DAY = 20;
/**
 * Failed checks of an account per day in Montevideo over all its enterprises, to prevent trying one password on many RUTs.
 * Running checks count too.
 */
export const FAILED_A_DAY = 50;
/** Seconds until an account with running checks may request another check. */
export const UNDER_WAY_SECONDS = 60;
/** Consecutive failures without a pause. @internal exported for tests */
export const FREE_FAILURES = 5;
const FIRST_PAUSE_SECONDS = 60;
const LONGEST_PAUSE_SECONDS = 86_400;

/** The checks of an account at one enterprise. */
export interface ChecksSoFar {
  /** The day of `checks` in Montevideo, `YYYY-MM-DD`. */
  readonly day: string;
  readonly checks: number;
  /** Failures since the last success. */
  readonly failures: number;
  readonly failedAt: Date | null;
}

/** A pause before the next check, and the reason in words. */
export interface Pause {
  readonly seconds: number;
  readonly why: string;
}

/** Returns the pause before the next check; null if it may run now. */
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
