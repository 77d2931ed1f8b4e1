import { forgetFailures, lockEndpoint, readEndpoint } from '../db/authorityEndpoints.ts';
import type { Orm } from '../db/orm.ts';
import type { Guard, Pass } from '../dgi/guard.ts';
import {
  type Breaker,
  beginProbe,
  close,
  countFailure,
  type Endpoint,
  isProbeDue,
} from '../domain/breaker.ts';

/** What another process has found out is known here after so long: quiet times cost no statement per call. */
const KNOWN_MILLISECONDS = 250;

type Known = Pick<Breaker, 'failures' | 'openSince' | 'nextProbeAt'>;

/**
 * One breaker per endpoint of the authority, in the database, so that all processes share it: what one has found
 * away no other calls. While it is open a single probe goes at a time, after pauses that double; while a CFE is the
 * probe (gatekeeper.ts) no other call takes its place, so that it is sent in its turn. `chance`: from 0 to 1.
 */
export function createBreakers(options: { orm: Orm; clock: () => Date; chance?: () => number }): Guard {
  const { orm, clock, chance = Math.random } = options;
  const known = new Map<Endpoint, { state: Known; at: number }>();

  function learn(name: Endpoint, { failures, openSince, nextProbeAt }: Known): Known {
    const state = { failures, openSince, nextProbeAt };
    known.set(name, { state, at: clock().getTime() });
    return state;
  }

  async function stateOf(name: Endpoint): Promise<Known> {
    const found = known.get(name);
    // Either way: the clock may have been put back since.
    if (found && Math.abs(clock().getTime() - found.at) < KNOWN_MILLISECONDS) return found.state;
    return learn(name, await readEndpoint(orm.em.fork(), name));
  }

  /** Changes an endpoint in its turn. */
  async function change<T>(
    name: Endpoint,
    work: (endpoint: Breaker & { proberId: string | null }) => T,
  ): Promise<T> {
    return orm.em.fork().transactional(async (em) => {
      const endpoint = await lockEndpoint(em, name);
      const result = work(endpoint);
      learn(name, endpoint);
      return result;
    });
  }

  const passFor = (name: Endpoint, wasProbe: boolean): Pass => ({
    async ended(how) {
      if (how === 'failed') {
        await change(name, (endpoint) =>
          countFailure(endpoint, { wasProbe, now: clock(), chance: chance() }),
        );
      } else if (wasProbe) {
        await change(name, (endpoint) => {
          close(endpoint);
          endpoint.proberId = null;
        });
      } else if ((await stateOf(name)).failures > 0) {
        await forgetFailures(orm.em.fork(), name);
        known.delete(name);
      }
    },
  });

  return {
    async pass({ endpoint: name, isProbe }) {
      const { openSince, nextProbeAt } = await stateOf(name);
      if (openSince === null) return passFor(name, false);
      if (nextProbeAt !== null && !isProbeDue({ nextProbeAt }, clock())) return null;
      return change(name, (endpoint) => {
        if (endpoint.openSince === null) return passFor(name, false);
        if (!isProbe && endpoint.proberId !== null) return null;
        return beginProbe(endpoint, clock()) ? passFor(name, true) : null;
      });
    },
  };
}
