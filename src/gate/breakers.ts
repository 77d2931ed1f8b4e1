import {
  type BreakerReading,
  type LockedEndpoint,
  lockEndpoint,
  readBreaker,
  receptionEndpoint,
} from '../db/authority/authorityEndpoints.ts';
import { AuthorityEndpoint } from '../db/entities/authority.ts';
import type { Orm } from '../db/orm.ts';
import { recordAuthorityEvent } from '../db/webhooks/events.ts';
import type { Breakers, CallPermit } from '../dgi/calls.ts';
import type { Endpoint } from '../domain/authority/breaker.ts';
import { ENVIRONMENTS } from '../domain/receipts/cfeTypes.ts';

/** How long a breaker's state is cached, so that not every call queries the database. */
const CACHED_MILLISECONDS = 250;

/**
 * Returns a clock in milliseconds for spans within this process, unaffected by changes of the system time.
 * Tests pass their own `clock`.
 */
export const createStopwatch =
  (clock?: () => Date): (() => number) =>
  () =>
    clock?.().getTime() ?? performance.now();

/** Breakers whose cached state another part of the process can refresh. */
export interface GateBreakers extends Breakers {
  /** Notes that the endpoint's breaker is closed, with this count of failures. */
  noteClosed(endpoint: Endpoint, failures: number): void;
}

/**
 * Creates one breaker per endpoint of the authority, shared by all processes through the database: once one process has
 * found an endpoint unavailable, no process calls it. An open breaker lets one probe through at a time, after pauses that
 * double; while a sobre is the prober (gatekeeper.ts), no other call probes. `clock`: a test's, in place of PostgreSQL's;
 * `chance`: from 0 to 1.
 */
export function createBreakers(options: {
  orm: Orm;
  clock?: () => Date;
  chance?: () => number;
}): GateBreakers {
  const { orm, clock, chance = Math.random } = options;
  const stopwatch = createStopwatch(clock);
  const cache = new Map<Endpoint, { state: BreakerReading; at: number }>();

  async function readCachedBreaker(name: Endpoint): Promise<BreakerReading> {
    const cached = cache.get(name);
    if (cached && stopwatch() - cached.at < CACHED_MILLISECONDS) return cached.state;
    const state = await readBreaker(orm.em.fork(), name, clock);
    cache.set(name, { state, at: stopwatch() });
    return state;
  }

  /**
   * Changes an endpoint under its lock. Only this function opens or closes breakers, so it also records the event for
   * customers, in the same transaction: once per change.
   */
  async function change<T>(name: Endpoint, work: (endpoint: LockedEndpoint) => T): Promise<T> {
    const result = await orm.em.fork().transactional(async (em) => {
      const endpoint = await lockEndpoint(em, name, clock);
      const wasOpen = endpoint.breaker.openSince !== null;
      const value = work(endpoint);
      const isOpen = endpoint.breaker.openSince !== null;
      const environment = ENVIRONMENTS.find((one) => receptionEndpoint(one) === name);
      if (environment && isOpen !== wasOpen) {
        await recordAuthorityEvent(em, environment, isOpen ? 'DOWN' : 'UP', endpoint.now);
      }
      return value;
    });
    cache.delete(name);
    return result;
  }

  /** `failures`: the count at the start of the call; only these failures are cleared by the call's success. */
  const createPermit = (name: Endpoint, { wasProbe = false, failures = 0 } = {}): CallPermit => ({
    async ended(outcome) {
      if (outcome === 'failed') {
        await change(name, (endpoint) => endpoint.countFailure({ wasProbe, chance: chance() }));
      } else if (wasProbe) {
        await change(name, (endpoint) => endpoint.close());
      } else if (failures > 0) {
        await orm.em.fork().nativeUpdate(AuthorityEndpoint, { name, openSince: null }, { failures: 0 });
        cache.delete(name);
      }
    },
  });

  return {
    noteClosed(name, failures) {
      cache.set(name, { state: { failures, isOpen: false, probeIn: null }, at: stopwatch() });
    },

    async permit({ endpoint: name, isProbe }) {
      const { isOpen, probeIn, failures } = await readCachedBreaker(name);
      if (!isOpen) return createPermit(name, { failures });
      const at = cache.get(name)?.at ?? stopwatch();
      if (probeIn !== null && probeIn > stopwatch() - at) return null;
      return change(name, (endpoint) => {
        const { openSince, proberId, failures: present } = endpoint.breaker;
        if (openSince === null) return createPermit(name, { failures: present });
        if (!isProbe && proberId !== null) return null;
        return endpoint.startProbe() ? createPermit(name, { wasProbe: true }) : null;
      });
    },
  };
}
