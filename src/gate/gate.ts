import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  freeProber,
  lockEndpoint,
  readEndpoint,
  receptionOf,
  takeSlot,
  takeSlotUnlessOthersWait,
} from '../db/authorityEndpoints.ts';
import { addTurn, findTurn, nextInTurn, removeTurn } from '../db/authorityTurns.ts';
import type { AuthorityEndpoint } from '../db/entities/AuthorityEndpoint.ts';
import type { AuthorityTurn } from '../db/entities/AuthorityTurn.ts';
import type { Cfe } from '../db/entities/Cfe.ts';
import type { Orm } from '../db/orm.ts';
import {
  beginProbe,
  countFailure,
  isProbeDue,
  nextLook,
  WRONG_CLOCK_MILLISECONDS,
} from '../domain/breaker.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { NEAR_MILLISECONDS, spacingOf, toleranceOf } from './pace.ts';

/**
 * So many probes of an outage are made by the CFE that is first in order, half a minute's worth; later ones by one
 * after the other, so that a CFE whose own send is what fails keeps nobody back.
 */
const PROBES_BY_THE_FIRST = 5;
/** Who has probed in vain is not asked again before, as long as there are others. */
const PROBE_AGAIN_MILLISECONDS = 1_800_000;

/** Leave to send, from a moment on. */
export interface Turn {
  readonly slot: Date;
  /** Whether the CFE stands in the table of turns. */
  readonly hasRow: boolean;
  /** Whether this send tries an endpoint that is away. */
  readonly isProbe: boolean;
}

/** What comes of asking for a turn: it; or the CFE waits, and is called; or it is the probe and tries again then. */
export type Admission = Turn | 'waits' | { readonly probeAt: Date };

/** What follows after a send, or the question before it, that settled nothing. */
export type AfterFailure = 'tryAgain' | 'waits' | { readonly probeAt: Date };

/** The one way of sobres to the authority, shared by all workers through the database. */
export interface Gate {
  /** A turn for a CFE whose sobre is stored. */
  enter(cfe: Cfe): Promise<Admission>;
  /** Resolves at the slot, or at another where that has passed; false where there is none near: then call `wait`. */
  untilSlot(cfe: Cfe, turn: Turn): Promise<boolean>;
  /** Puts the CFE among those that wait; it is called when its turn comes. */
  wait(cfe: Cfe): Promise<void>;
  afterFailure(cfe: Cfe): Promise<AfterFailure>;
  /** Takes the CFE off, within the transaction that makes its turn needless. */
  leave(em: EntityManager, cfe: Cfe, turn: Turn): Promise<void>;
}

/** Who may be the next probe: the first in order of those that have not probed in vain lately, if there is one. */
export function freshProbers(
  em: EntityManager,
  environment: Environment,
  now: Date,
): ReturnType<typeof nextInTurn> {
  const notProbedSince = new Date(now.getTime() - PROBE_AGAIN_MILLISECONDS);
  return nextInTurn(em, { environment, count: 1, notProbedSince });
}

const isOlder = (cfe: Cfe, { since, sequence }: AuthorityTurn): boolean =>
  cfe.createdAt < since || (cfe.createdAt.getTime() === since.getTime() && cfe.sequence < sequence);

/** A gate that lets `sendsPerSecond` through at each reception endpoint. */
export function createGate(options: {
  orm: Orm;
  clock: () => Date;
  sendsPerSecond: number;
  pause?: (milliseconds: number) => Promise<unknown>;
  chance?: () => number;
}): Gate {
  const { orm, clock, pause = sleep, chance = Math.random } = options;
  const spacingMilliseconds = spacingOf(options.sendsPerSecond);
  const tolerance = toleranceOf(spacingMilliseconds);
  const wishFor = ({ environment }: Cfe) => ({
    environment,
    now: clock(),
    spacingMilliseconds,
    nearMilliseconds: NEAR_MILLISECONDS,
  });

  /** Decides with the endpoint locked, so that gatekeepers and other sends see either all of it or nothing. */
  function decide<T>(
    cfe: Cfe,
    work: (em: EntityManager, endpoint: AuthorityEndpoint, turn: AuthorityTurn | null) => T | Promise<T>,
  ): Promise<T> {
    return orm.em.fork().transactional(async (em) => {
      const endpoint = await lockEndpoint(em, receptionOf(cfe.environment));
      return work(em, endpoint, await findTurn(em, cfe.id));
    });
  }

  function waiting(em: EntityManager, cfe: Cfe, turn: AuthorityTurn | null): 'waits' {
    if (turn) turn.releasedFor = null;
    else addTurn(em, cfe);
    return 'waits';
  }

  /**
   * Makes a CFE the probe in place of a younger one of its enterprise: one whose own try was still under way when the
   * probe was chosen. False where there is none.
   */
  async function takesOver(
    em: EntityManager,
    cfe: Cfe,
    endpoint: AuthorityEndpoint,
    turn: AuthorityTurn | null,
  ): Promise<boolean> {
    if (endpoint.proberId === null || turn?.probedAt) return false;
    const probe = await findTurn(em, endpoint.proberId);
    if (probe?.rut !== cfe.rut || !isOlder(cfe, probe)) return false;
    (turn ?? addTurn(em, cfe)).releasedFor = clock();
    endpoint.proberId = cfe.id;
    return true;
  }

  /** For a CFE that waits or was called, and where the endpoint is open or others wait. */
  const enterInOrder = (cfe: Cfe): Promise<Admission> =>
    decide(cfe, async (em, endpoint, turn) => {
      const now = clock();
      if (endpoint.openSince !== null) {
        if (turn?.releasedFor && endpoint.proberId === cfe.id) turn.releasedFor = now;
        else if (!(await takesOver(em, cfe, endpoint, turn))) return waiting(em, cfe, turn);
        return whenProbing(endpoint, now);
      }
      if (!turn?.releasedFor) return waiting(em, cfe, turn);
      const slot = turn.releasedFor;
      // Somebody works on it: so the gatekeeper knows that the call has come.
      if (slot < now) turn.releasedFor = now;
      return { slot, hasRow: true, isProbe: false };
    });

  function whenProbing(endpoint: AuthorityEndpoint, now: Date): Admission {
    const slot = isProbeDue(endpoint, now) ? now : (endpoint.nextProbeAt ?? now);
    if (slot.getTime() - now.getTime() > NEAR_MILLISECONDS) return { probeAt: nextLook(endpoint, now) };
    return { slot, hasRow: true, isProbe: true };
  }

  return {
    async enter(cfe) {
      const slot = await takeSlotUnlessOthersWait(orm.em.fork(), { ...wishFor(cfe), cfeId: cfe.id });
      return slot ? { slot, hasRow: false, isProbe: false } : enterInOrder(cfe);
    },

    async untilSlot(cfe, turn) {
      let slot: Date | null = turn.slot;
      while (slot) {
        const ahead: number = slot.getTime() - clock().getTime();
        if (ahead > 0 && ahead <= WRONG_CLOCK_MILLISECONDS) await pause(ahead);
        if (turn.isProbe || Math.abs(clock().getTime() - slot.getTime()) <= tolerance) return true;
        slot = await takeSlot(orm.em.fork(), wishFor(cfe));
      }
      return false;
    },

    async wait(cfe) {
      await decide(cfe, (em, _endpoint, turn) => waiting(em, cfe, turn));
    },

    async afterFailure(cfe) {
      const { openSince } = await readEndpoint(orm.em.fork(), receptionOf(cfe.environment));
      if (openSince === null) return 'tryAgain';
      return decide(cfe, async (em, endpoint, turn) => {
        if (endpoint.openSince === null) return 'tryAgain';
        const now = clock();
        if (!turn || endpoint.proberId !== cfe.id) {
          const probes = await takesOver(em, cfe, endpoint, turn);
          return probes ? { probeAt: nextLook(endpoint, now) } : waiting(em, cfe, turn);
        }
        // Where the question before the send failed, the probe was not made and counts as one.
        if (beginProbe(endpoint, now)) countFailure(endpoint, { wasProbe: true, now, chance: chance() });
        const [other] =
          endpoint.probes < PROBES_BY_THE_FIRST ? [] : await freshProbers(em, cfe.environment, now);
        if (!other) return { probeAt: nextLook(endpoint, now) };
        endpoint.proberId = null;
        turn.probedAt = now;
        return waiting(em, cfe, turn);
      });
    },

    async leave(em, cfe, { hasRow, isProbe }) {
      if (hasRow) await removeTurn(em, cfe.id);
      // It may go without having tried the endpoint, as where the authority has the sobre already: others may then.
      if (isProbe) await freeProber(em, cfe.id);
    },
  };
}
