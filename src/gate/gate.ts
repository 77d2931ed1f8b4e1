import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  dismissProber,
  glanceAtBreaker,
  type LockedEndpoint,
  lockEndpoint,
  receptionOf,
  takeQuestion,
  takeSlot,
} from '../db/authorityEndpoints.ts';
import { Sobre } from '../db/entities/authority.ts';
import type { Orm } from '../db/orm.ts';
import { type NextInLine, nextInLine, type SobreInHand } from '../db/sobres.ts';
import { databaseNow } from '../db/sql.ts';
import { isProbeDue, nextLookIn } from '../domain/breaker.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { DEADLINES } from '../domain/deadlines.ts';
import { createStopwatch, type GateBreakers } from './breakers.ts';

/** The longest wait within a process; a sobre that would have to wait longer waits in the database. */
export const NEAR_MILLISECONDS = 3_500;
/** A CFE that is taken now gets a slot of its own up to so far ahead. */
export const AT_ONCE_MILLISECONDS = 100;
/** Slots are given up to here: a look at what waits comes every 250 ms. */
export const HORIZON_MILLISECONDS = 3_000;
const LEAST_TOLERANCE_MILLISECONDS = 50;
const MOST_TOLERANCE_MILLISECONDS = 250;

/** The pause between two sends at a rate, in whole milliseconds, so that the rate is never exceeded. */
export const spacingOf = (sendsPerSecond: number): number => Math.ceil(1_000 / sendsPerSecond);

/** How late a send may use its slot: who is later takes another, so that late ones do not go all at once. */
const toleranceOf = (spacingMilliseconds: number): number =>
  Math.min(Math.max(spacingMilliseconds, LEAST_TOLERANCE_MILLISECONDS), MOST_TOLERANCE_MILLISECONDS);

/**
 * So many probes of an outage are made by the sobre that is first in order, half a minute's worth; later ones go to
 * one after another, so that one whose own send is what fails keeps nobody back.
 */
const PROBES_BY_THE_FIRST = 5;
/** A failed prober is skipped for so long while others wait. */
const PROBE_AGAIN_MILLISECONDS = 1_800_000;

/** A moment for a question is reserved up to so far ahead. */
const RESERVED_MILLISECONDS = 60_000;

/** Leave to send, from a slot on. */
export interface Permit {
  /** The slot by the stopwatch of this process. */
  readonly dueAt: number;
  /** Whether this send tries an endpoint that is away. */
  readonly isProbe: boolean;
}

/** The sobre is the prober, and tries again in so many milliseconds. */
export interface ProbeLater {
  readonly probeIn: number;
}

/** What comes of asking for a permit: it; or the sobre waits, and is called; or it is the prober and tries again then. */
export type GateAdmission = Permit | 'waits' | ProbeLater;

/** What follows after a send, or the question before it, that had no clear answer. */
export type AfterFailure = 'tryAgain' | 'waits' | ProbeLater;

type Waiting = Pick<Sobre, 'id' | 'environment'>;

/** The one way of sobres to the authority, shared by all workers through the database. */
export interface Gate {
  /** A permit for a sobre whose bytes are stored. */
  enter(hand: Pick<SobreInHand, 'sobre' | 'slotIn' | 'isAway' | 'failures'>): Promise<GateAdmission>;
  /** Resolves at the slot, or at another where that has passed; false where there is none near: then call `wait`. */
  untilSlot(sobre: Waiting, permit: Permit): Promise<boolean>;
  /** Takes the slot from a sobre; it is called when it has another. */
  wait(sobre: Waiting): Promise<void>;
  afterFailure(sobre: Waiting): Promise<AfterFailure>;
  /** The permit is used: others may be the prober where it was to be one. */
  leave(sobre: Waiting, permit: Permit): Promise<void>;
  /** Takes the slot, and the part of the prober, from a sobre whose step fails by a mistake of ours. */
  giveUp(sobreId: string): Promise<void>;
  /**
   * Waits until a question for verdicts may go, at the moment that was reserved for it or at a free one; null then. Where
   * none is near, answers when to come again, with the moment that is reserved until then.
   */
  untilQuestion(environment: Environment, reserved?: Date | null): Promise<QuestionLater | null>;
}

/** In how many milliseconds a question may go; nothing is reserved where very many are before it. */
export interface QuestionLater {
  readonly milliseconds: number;
  readonly reserved: Date | null;
}

/** What may be the next prober: the first in order that has not probed in vain lately, if there is one. */
export function findFreshProbers(
  em: EntityManager,
  environment: Environment,
  now: Date,
): Promise<NextInLine[]> {
  return nextInLine(em, {
    environment,
    count: 1,
    // What may still be under way goes before what waits behind it.
    flightSince: new Date(now.getTime() - DEADLINES.slotUnused),
    full: Number.MAX_SAFE_INTEGER,
    notProbedSince: new Date(now.getTime() - PROBE_AGAIN_MILLISECONDS),
  });
}

/** What is decided of a sobre with the endpoint locked, so that gatekeepers and other sends see all of it or nothing. */
interface Decision {
  readonly em: EntityManager;
  readonly sobre: Sobre;
  readonly endpoint: LockedEndpoint;
}

interface GateOptions {
  readonly orm: Orm;
  readonly sendsPerSecond: number;
  readonly questionsPerSecond: number;
  /** Those of the client that sends: they hear of an endpoint that was seen when a sobre was taken in hand. */
  readonly breakers?: Pick<GateBreakers, 'noteClosed'>;
  readonly clock?: () => Date;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
  readonly chance?: () => number;
}

/**
 * A gate that lets `sendsPerSecond` sobres through to each reception endpoint, and `questionsPerSecond` questions for
 * verdicts. `clock`: a test's, in place of PostgreSQL's.
 */
export function createGate(options: GateOptions): Gate {
  const { orm, clock, pause = sleep, chance = Math.random } = options;
  const stopwatch = createStopwatch(clock);
  const spacingMilliseconds = spacingOf(options.sendsPerSecond);
  const tolerance = toleranceOf(spacingMilliseconds);
  const near = { nearMilliseconds: NEAR_MILLISECONDS, clock };

  function decide<T>({ id, environment }: Waiting, work: (decision: Decision) => T | Promise<T>): Promise<T> {
    return orm.em.fork().transactional(async (em) => {
      const endpoint = await lockEndpoint(em, receptionOf(environment), clock);
      return work({ em, endpoint, sobre: await em.findOneOrFail(Sobre, { id }) });
    });
  }

  return {
    async enter({ sobre, slotIn, isAway, failures }) {
      if (slotIn !== null && !isAway) {
        options.breakers?.noteClosed(receptionOf(sobre.environment), failures);
        return { dueAt: stopwatch() + slotIn, isProbe: false };
      }
      const admission = await decide(sobre, (decision) => admit(decision, spacingMilliseconds));
      if (admission === 'waits' || 'probeIn' in admission) return admission;
      return { dueAt: stopwatch() + admission.ahead, isProbe: admission.isProbe };
    },

    async untilSlot({ environment }, { dueAt, isProbe }) {
      let due = dueAt;
      for (;;) {
        const ahead = due - stopwatch();
        if (ahead > 0) await pause(ahead);
        if (isProbe || stopwatch() - due <= tolerance) return true;
        const taken = await takeSlot(orm.em.fork(), { environment, spacingMilliseconds, ...near });
        if (!taken) return false;
        due = stopwatch() + taken.ahead;
      }
    },

    async wait(sobre) {
      await decide(sobre, waiting);
    },

    async afterFailure(sobre) {
      const { isOpen } = await glanceAtBreaker(orm.em.fork(), receptionOf(sobre.environment), clock);
      return isOpen ? decide(sobre, (decision) => failed(decision, chance())) : 'tryAgain';
    },

    async leave({ id }, { isProbe }) {
      // It may go without having tried the endpoint, as where the authority has the sobre already: others may then.
      if (isProbe) await dismissProber(orm.em.fork(), id);
    },

    async giveUp(id) {
      const em = orm.em.fork();
      const probedAt = await databaseNow(em, clock);
      await em.nativeUpdate(Sobre, { id }, { probedAt });
      // One that is not written yet has nothing to be called for: its next attempt comes by itself.
      await em.nativeUpdate(Sobre, { id, state: { $ne: 'OPEN' } }, { slot: null });
      await dismissProber(em, id);
    },

    untilQuestion: questionsThrough({ ...options, pause, chance }),
  };
}

/** The rate of questions for verdicts, which all workers share. */
function questionsThrough({
  orm,
  questionsPerSecond,
  breakers,
  clock,
  pause,
  chance,
}: GateOptions & Required<Pick<GateOptions, 'pause' | 'chance'>>): Gate['untilQuestion'] {
  const spacingMilliseconds = spacingOf(questionsPerSecond);
  return async (environment, reserved) => {
    const em = orm.em.fork();
    if (reserved) {
      const ahead = reserved.getTime() - (await databaseNow(em, clock)).getTime();
      if (Math.abs(ahead) <= NEAR_MILLISECONDS) {
        if (ahead > 0) await pause(ahead);
        return null;
      }
    }
    const wish = { environment, spacingMilliseconds, nearMilliseconds: RESERVED_MILLISECONDS, clock };
    const taken = await takeQuestion(em, wish);
    if (!taken) return { milliseconds: Math.round(RESERVED_MILLISECONDS * (0.5 + chance())), reserved: null };
    if (taken.ahead > NEAR_MILLISECONDS)
      return { milliseconds: Math.round(taken.ahead), reserved: taken.slot };
    if (taken.closedAfter !== null) breakers?.noteClosed(receptionOf(environment), taken.closedAfter);
    if (taken.ahead > 0) await pause(taken.ahead);
    return null;
  };
}

/** A slot of a sobre, and how many milliseconds ahead it lies. */
interface OwnSlot {
  readonly ahead: number;
  readonly isProbe: boolean;
}

/** For a sobre that has no slot, and where the endpoint is open. */
function admit(decision: Decision, spacingMilliseconds: number): OwnSlot | 'waits' | ProbeLater {
  const { sobre, endpoint } = decision;
  const { now, breaker } = endpoint;
  if (breaker.openSince !== null) {
    if (breaker.proberId !== sobre.id) return waiting(decision);
    // Somebody works on it: so the gatekeeper knows that the call has come.
    sobre.slot = now;
    return whenProbing(endpoint, spacingMilliseconds);
  }
  return sobre.slot ? { ahead: sobre.slot.getTime() - now.getTime(), isProbe: false } : 'waits';
}

/** A probe is a send like others: none goes right after it. */
function whenProbing(endpoint: LockedEndpoint, spacingMilliseconds: number): OwnSlot | ProbeLater {
  const { now, breaker } = endpoint;
  const slot = isProbeDue(breaker, now) ? now : (breaker.nextProbeAt ?? now);
  const ahead = slot.getTime() - now.getTime();
  if (ahead > NEAR_MILLISECONDS) return { probeIn: nextLookIn(breaker, now) };
  endpoint.takeSlotsBefore(endpoint.freeSlot(new Date(slot.getTime() + spacingMilliseconds)));
  return { ahead, isProbe: true };
}

function waiting({ sobre }: Decision): 'waits' {
  sobre.slot = null;
  return 'waits';
}

/** After a failure while the endpoint counts as away: the prober goes on or hands over, everything else waits. */
async function failed(decision: Decision, chance: number): Promise<AfterFailure> {
  const { em, sobre, endpoint } = decision;
  const { now, breaker } = endpoint;
  if (breaker.openSince === null) return 'tryAgain';
  if (breaker.proberId !== sobre.id) return waiting(decision);
  // Where the question before the send failed, the probe was not made and counts as one.
  if (endpoint.beginProbe()) endpoint.countFailure({ wasProbe: true, chance });
  const [other] =
    breaker.probes < PROBES_BY_THE_FIRST ? [] : await findFreshProbers(em, sobre.environment, now);
  if (!other) return { probeIn: nextLookIn(breaker, now) };
  endpoint.appoint(null);
  sobre.probedAt = now;
  return waiting(decision);
}
