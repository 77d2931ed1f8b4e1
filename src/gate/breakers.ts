import {
  type BreakerGlance,
  glanceAtBreaker,
  type LockedEndpoint,
  lockEndpoint,
  receptionOf,
} from '../db/authorityEndpoints.ts';
import { AuthorityEndpoint } from '../db/entities/authority.ts';
import { recordAuthorityEvent } from '../db/events.ts';
import type { Orm } from '../db/orm.ts';
import type { Breakers, CallPermit } from '../dgi/calls.ts';
import type { Endpoint } from '../domain/breaker.ts';
import { ENVIRONMENTS } from '../domain/cfeTypes.ts';

/** What another process has found out is known here after so long: quiet times cost no statement per call. */
const GLANCE_LASTS_MILLISECONDS = 250;

/**
 * Milliseconds for measuring spans within this process: nobody can set it, unlike the clock on the wall. A test's clock
 * stands in for it.
 */
export const createStopwatch =
  (clock?: () => Date): (() => number) =>
  () =>
    clock?.().getTime() ?? performance.now();

/** Breakers that are told what another part of the process has just seen in the database. */
export interface GateBreakers extends Breakers {
  /** The endpoint's breaker is closed, after so many failures. */
  noteClosed(endpoint: Endpoint, failures: number): void;
}

/**
 * One breaker per endpoint of the authority, in the database, so that all processes share it: once one has found an
 * endpoint away, no other calls it. While it is open a single probe goes at a time, after pauses that double; while a
 * sobre is the prober (gatekeeper.ts) no other call probes, so that it is sent first. `clock`: a test's, in place of
 * PostgreSQL's; `chance`: from 0 to 1.
 */
export function createBreakers(options: {
  orm: Orm;
  clock?: () => Date;
  chance?: () => number;
}): GateBreakers {
  const { orm, clock, chance = Math.random } = options;
  const stopwatch = createStopwatch(clock);
  const glances = new Map<Endpoint, { glance: BreakerGlance; at: number }>();

  async function glanceAt(name: Endpoint): Promise<BreakerGlance> {
    const kept = glances.get(name);
    if (kept && stopwatch() - kept.at < GLANCE_LASTS_MILLISECONDS) return kept.glance;
    const glance = await glanceAtBreaker(orm.em.fork(), name, clock);
    glances.set(name, { glance, at: stopwatch() });
    return glance;
  }

  /**
   * Changes an endpoint under its lock. Nothing else opens or closes one, so customers are told here, in the same
   * transaction: once of each change, and of none that did not stay.
   */
  async function change<T>(name: Endpoint, work: (endpoint: LockedEndpoint) => T): Promise<T> {
    const result = await orm.em.fork().transactional(async (em) => {
      const endpoint = await lockEndpoint(em, name, clock);
      const wasOpen = endpoint.breaker.openSince !== null;
      const done = work(endpoint);
      const isOpen = endpoint.breaker.openSince !== null;
      const environment = ENVIRONMENTS.find((one) => receptionOf(one) === name);
      if (environment && isOpen !== wasOpen) {
        await recordAuthorityEvent(em, environment, isOpen ? 'DOWN' : 'UP', endpoint.now);
      }
      return done;
    });
    glances.delete(name);
    return result;
  }

  /** `failures`: how many there were when the call began; those since are not made good by its answer. */
  const permitFor = (name: Endpoint, { wasProbe = false, failures = 0 } = {}): CallPermit => ({
    async ended(how) {
      if (how === 'failed') {
        await change(name, (endpoint) => endpoint.countFailure({ wasProbe, chance: chance() }));
      } else if (wasProbe) {
        await change(name, (endpoint) => endpoint.close());
      } else if (failures > 0) {
        await orm.em.fork().nativeUpdate(AuthorityEndpoint, { name, openSince: null }, { failures: 0 });
        glances.delete(name);
      }
    },
  });

  return {
    noteClosed(name, failures) {
      glances.set(name, { glance: { failures, isOpen: false, probeIn: null }, at: stopwatch() });
    },

    async permit({ endpoint: name, isProbe }) {
      const { isOpen, probeIn, failures } = await glanceAt(name);
      if (!isOpen) return permitFor(name, { failures });
      const at = glances.get(name)?.at ?? stopwatch();
      if (probeIn !== null && probeIn > stopwatch() - at) return null;
      return change(name, (endpoint) => {
        const { openSince, proberId, failures: present } = endpoint.breaker;
        if (openSince === null) return permitFor(name, { failures: present });
        if (!isProbe && proberId !== null) return null;
        return endpoint.beginProbe() ? permitFor(name, { wasProbe: true }) : null;
      });
    },
  };
}
