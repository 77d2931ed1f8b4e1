import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { parseApiKey } from '../crypto/apiKeys.ts';
import { isExceeded, type RateLimitUsage, secondsUntilReset } from '../domain/people/rateLimits.ts';
import { Refusal } from '../errors.ts';
import { networkOf } from '../http/callerAddress.ts';
import { createReading } from '../metrics/reading.ts';
import { bearerToken, type Lookups } from './authenticate.ts';
import type { ApiDeps } from './deps.ts';
import type { Route } from './route.ts';

/** Most networks remembered; forgotten networks are counted in the database again. */
const MOST_REMEMBERED = 10_000;
/**
 * How long the live keys are cached; they are read only while a network is beyond the limit.
 */
const KEYS_KEPT_MILLISECONDS = 1_000;
const KEYS_PATIENCE_MILLISECONDS = 5_000;

/** An attempt to authenticate, with its network address. */
export interface AuthenticationAttempt {
  readonly route: Pick<Route, 'auth'>;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
}

/** Limits the failures of each network; one per process. */
export interface FailureLimit {
  /** Runs `authenticate` and counts its refusals; beyond the limit throws RATE_LIMITED instead of the refusal. */
  guard<T>(attempt: AuthenticationAttempt, authenticate: () => Promise<T>): Promise<T>;
  /** Counts a failure of an address outside `guard`; returns `error`, or RATE_LIMITED beyond the limit. */
  refusalFor(address: string, error: Refusal): Promise<Refusal>;
}

/**
 * Counts failed authentications by network, in the database for all processes. Beyond the limit a failure is RATE_LIMITED,
 * but a valid key still passes: other callers may share the network, and 256 random bits need no lock-out.
 *
 * This process remembers networks beyond the limit until their window ends and rejects wrong keys from
 * memory, so a flood costs one query per second, not one per request.
 */
export function createFailureLimit({
  deps,
  lookups,
}: {
  deps: Pick<ApiDeps, 'realClock' | 'tokens' | 'apiKeys'>;
  lookups: Pick<Lookups, 'countFailedAuthentication' | 'liveKeys'>;
}): FailureLimit {
  const exceeded = new LRUCache<string, RateLimitUsage>({ max: MOST_REMEMBERED });
  const liveKeys = createReading({
    read: () => lookups.liveKeys(),
    keepMilliseconds: KEYS_KEPT_MILLISECONDS,
    patienceMilliseconds: KEYS_PATIENCE_MILLISECONDS,
  });

  function rememberedUsage(network: string): RateLimitUsage | undefined {
    const usage = exceeded.get(network);
    return usage && usage.resetsAt > deps.realClock() ? usage : undefined;
  }

  async function refusalFor(network: string, error: Refusal): Promise<Refusal> {
    const usage = rememberedUsage(network) ?? (await lookups.countFailedAuthentication(network));
    if (!isExceeded(usage)) return error;
    exceeded.set(network, usage);
    return tooManyFailures(usage, deps.realClock());
  }

  /** Returns whether `attempt` may succeed, by the cached keys. */
  async function maySucceed({ route, headers }: AuthenticationAttempt): Promise<boolean> {
    const text = String(headers['x-api-key'] ?? '');
    const parts = parseApiKey(text);
    if (!parts) return false;
    const token = route.auth === 'key' ? null : bearerToken(headers.authorization);
    const claims = token === null ? null : await deps.tokens.verify(token, deps.realClock());
    if (route.auth === 'token' && !claims) return false;
    const keys = await liveKeys();
    // If the database does not answer, the attempt itself decides.
    if (!keys) return true;
    const key = keys.get(parts.publicId);
    return key !== undefined && (!claims || claims.keyId === key.id) && deps.apiKeys.matches(text, key.hash);
  }

  return {
    refusalFor: (address, error) => refusalFor(networkOf(address), error),
    async guard(attempt, authenticate) {
      const network = networkOf(attempt.address);
      const usage = rememberedUsage(network);
      if (usage && !(await maySucceed(attempt))) throw tooManyFailures(usage, deps.realClock());
      try {
        return await authenticate();
      } catch (error) {
        throw error instanceof Refusal ? await refusalFor(network, error) : error;
      }
    },
  };
}

function tooManyFailures(usage: RateLimitUsage, now: Date): Refusal {
  const seconds = secondsUntilReset(usage, now);
  return new Refusal(
    'RATE_LIMITED',
    `Too many requests from this address failed to authenticate; try again in ${seconds} seconds.`,
    { retryAfterSeconds: seconds },
  );
}
