import { isExceeded, secondsUntilReset } from '../domain/requestLimits.ts';
import { Refusal } from '../errors.ts';
import type { ApiDeps } from './deps.ts';
import type { Lookups } from './lookups.ts';

/**
 * Runs `attempt`, which authenticates a caller, and counts its refusal against the address of the caller. Beyond the
 * limit a failure is RATE_LIMITED instead. A right key is let in all the same: behind one address (a company's, a load
 * balancer's) others than the one who fails may sit, and 256 random bits need no lock-out against guessing.
 */
export async function limitFailures<T>(
  address: string,
  { deps, lookups }: { deps: Pick<ApiDeps, 'clock'>; lookups: Pick<Lookups, 'countFailedAuthentication'> },
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const quota = await lookups.countFailedAuthentication(address);
    if (!isExceeded(quota)) throw error;
    const seconds = secondsUntilReset(quota, deps.clock());
    throw new Refusal(
      'RATE_LIMITED',
      `Too many requests from this address failed to authenticate; try again in ${seconds} seconds.`,
      { retryAfterSeconds: seconds },
    );
  }
}
