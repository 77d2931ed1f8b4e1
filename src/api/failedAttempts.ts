import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { parseApiKey } from '../crypto/apiKeys.ts';
import { isExceeded, type Quota, secondsUntilReset } from '../domain/requestLimits.ts';
import { Refusal } from '../errors.ts';
import { networkOf } from '../http/callerAddress.ts';
import { createReading } from '../metrics/reading.ts';
import { bearerToken, type Lookups } from './authenticate.ts';
import type { ApiDeps } from './deps.ts';
import type { Route } from './route.ts';

/** More networks than this are not remembered; those that are forgotten are counted in the database again. */
const MOST_REMEMBERED = 10_000;
/** The keys that are there are read no more often than this, and only while a network is beyond the limit. */
const KEYS_KEPT_MILLISECONDS = 1_000;
const KEYS_PATIENCE_MILLISECONDS = 5_000;

/** An attempt to authenticate, and where it comes from. */
export interface Attempt {
  readonly route: Pick<Route, 'auth'>;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
}

/** Limits the failures of each network; one for each process. */
export interface FailureLimit {
  /** What `authenticate` comes to, its refusals counted; RATE_LIMITED in place of those beyond the limit. */
  guard<T>(attempt: Attempt, authenticate: () => Promise<T>): Promise<T>;
  /** Counts a failure of an address in another way, and answers what it is refused with: `error`, or RATE_LIMITED. */
  refusalFor(address: string, error: Refusal): Promise<Refusal>;
}

/**
 * Counts refusals of authentication by network, in the database for all processes together. Beyond the limit a failure
 * is RATE_LIMITED; a right key is let in all the same: behind one address (a company's, a load balancer's) others than
 * the one who fails may sit, and 256 random bits need no lock-out against guessing.
 *
 * This process remembers who is beyond the limit until the window in the database ends, and tells from memory what is
 * no right key: a flood costs one statement a second, not one a request.
 */
export function createFailureLimit({
  deps,
  lookups,
}: {
  deps: Pick<ApiDeps, 'realClock' | 'tokens' | 'apiKeys'>;
  lookups: Pick<Lookups, 'countFailedAuthentication' | 'liveKeys'>;
}): FailureLimit {
  const exceeded = new LRUCache<string, Quota>({ max: MOST_REMEMBERED });
  const liveKeys = createReading({
    read: () => lookups.liveKeys(),
    keepMilliseconds: KEYS_KEPT_MILLISECONDS,
    patienceMilliseconds: KEYS_PATIENCE_MILLISECONDS,
  });

  function remembered(network: string): Quota | undefined {
    const quota = exceeded.get(network);
    return quota && quota.resetsAt > deps.realClock() ? quota : undefined;
  }

  async function refusalFor(network: string, error: Refusal): Promise<Refusal> {
    const quota = remembered(network) ?? (await lookups.countFailedAuthentication(network));
    if (!isExceeded(quota)) return error;
    exceeded.set(network, quota);
    return tooMany(quota, deps.realClock());
  }

  /** Whether `attempt` may succeed, as far as can be told without asking the database for it. */
  async function isHopeful({ route, headers }: Attempt): Promise<boolean> {
    const text = String(headers['x-api-key'] ?? '');
    const parts = parseApiKey(text);
    if (!parts) return false;
    const token = route.auth === 'key' ? null : bearerToken(headers.authorization);
    const claims = token === null ? null : await deps.tokens.verify(token, deps.realClock());
    if (route.auth === 'token' && !claims) return false;
    const keys = await liveKeys();
    // Without an answer of the database nothing is known; the attempt itself will tell.
    if (!keys) return true;
    const key = keys.get(parts.publicId);
    return key !== undefined && (!claims || claims.keyId === key.id) && deps.apiKeys.matches(text, key.hash);
  }

  return {
    refusalFor: (address, error) => refusalFor(networkOf(address), error),
    async guard(attempt, authenticate) {
      const network = networkOf(attempt.address);
      const quota = remembered(network);
      if (quota && !(await isHopeful(attempt))) throw tooMany(quota, deps.realClock());
      try {
        return await authenticate();
      } catch (error) {
        throw error instanceof Refusal ? await refusalFor(network, error) : error;
      }
    },
  };
}

function tooMany(quota: Quota, now: Date): Refusal {
  const seconds = secondsUntilReset(quota, now);
  return new Refusal(
    'RATE_LIMITED',
    `Too many requests from this address failed to authenticate; try again in ${seconds} seconds.`,
    { retryAfterSeconds: seconds },
  );
}
