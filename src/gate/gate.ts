import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  dismissProber,
  type LockedEndpoint,
  lockEndpoint,
  readBreaker,
  receptionEndpoint,
  takeQuestionSlot,
  takeSlot,
} from '../db/authority/authorityEndpoints.ts';
import { findNextToSend, type LoadedSobre, type NextToSend } from '../db/authority/sobres.ts';
import { Sobre } from '../db/entities/authority.ts';
import type { Orm } from '../db/orm.ts';
import { databaseNow } from '../db/sql.ts';
import { isProbeDue, millisecondsToNextProbeCheck } from '../domain/authority/breaker.ts';
import { DEADLINES } from '../domain/authority/deadlines.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { createStopwatch, type GateBreakers } from './breakers.ts';

/** The longest wait within a process; for longer waits the process stores the state and leaves. */
export const NEAR_MILLISECONDS = 3_500;
/** A new CFE gets its own sobre at once if a slot is free within this time. */
export const AT_ONCE_MILLISECONDS = 100;
/** Slots are assigned this far ahead: the gatekeeper looks every 250 ms. */
export const HORIZON_MILLISECONDS = 3_000;
const LEAST_TOLERANCE_MILLISECONDS = 50;
const MOST_TOLERANCE_MILLISECONDS = 250;

/** Returns the pause between two sends, in whole milliseconds, so that the rate is never exceeded. */
export const spacingOf = (sendsPerSecond: number): number => Math.ceil(1_000 / sendsPerSecond);

/**
 * Returns how late a send may use its slot; a later send takes another slot, so that late sends do not all go at once.
 */
const toTolerance = (spacingMilliseconds: number): number =>
  Math.min(Math.max(spacingMilliseconds, LEAST_TOLERANCE_MILLISECONDS), MOST_TOLERANCE_MILLISECONDS);

/**
 * Probes of an outage by the first sobre, about half a minute; then the sobres take turns, so that a sobre whose own send
 * fails blocks no other.
 */
const PROBES_BY_THE_FIRST = 5;
/** A failed prober is skipped for this long while others wait. */
const PROBE_AGAIN_MILLISECONDS = 1_800_000;

/** A slot for a question is reserved this far ahead. */
const RESERVED_MILLISECONDS = 60_000;

/** Permission to send from a slot on. */
export interface Permit {
  /** The slot, by the stopwatch of this process. */
  readonly dueAt: number;
  /** Whether this send probes an unavailable endpoint. */
  readonly isProbe: boolean;
}

/** The sobre is the prober: its next probe is in `probeIn` milliseconds. */
export interface ProbeLater {
  readonly probeIn: number;
}

/**
 * The answer to a sobre: a permit; `waits`, until the gatekeeper calls the sobre; or, for the prober, the time of its next
 * probe.
 */
export type GateAdmission = Permit | 'waits' | ProbeLater;

/** The next step after a send, or the question before it, without a clear answer. */
export type AfterFailure = 'tryAgain' | 'waits' | ProbeLater;

type Waiting = Pick<Sobre, 'id' | 'environment'>;

/** The rate limiter of sends and questions to the authority, shared by all workers through the database. */
export interface Gate {
  /** Asks for a permit for a sobre whose bytes are stored. */
  enter(hand: Pick<LoadedSobre, 'sobre' | 'slotIn' | 'isAway' | 'failures'>): Promise<GateAdmission>;
  /** Resolves at the slot, or at a later slot if it was missed; false if no slot is near: then call `wait`. */
  untilSlot(sobre: Waiting, permit: Permit): Promise<boolean>;
  /** Removes the slot of a sobre; the gatekeeper calls the sobre when it has another slot. */
  wait(sobre: Waiting): Promise<void>;
  afterFailure(sobre: Waiting): Promise<AfterFailure>;
  /** Ends the use of a permit; after a probe others may be the prober. */
  leave(sobre: Waiting, permit: Permit): Promise<void>;
  /** Removes the slot and the prober's role of a sobre whose step fails by a bug. */
  giveUp(sobreId: string): Promise<void>;
  /**
   * Waits for the reserved slot or a free slot for a question about verdicts, and returns null. If no slot is near,
   * returns when to ask again, and the slot that is reserved until then.
   */
  untilQuestion(environment: Environment, reserved?: Date | null): Promise<QuestionLater | null>;
}

/** How long a question must wait; no slot is reserved if too many questions wait. */
export interface QuestionLater {
  readonly milliseconds: number;
  readonly reserved: Date | null;
}

/**
 * Returns the candidate for the next prober, if any: the first in order that has not recently failed as a prober.
 */
export function findFreshProbers(
  em: EntityManager,
  environment: Environment,
  now: Date,
): Promise<NextToSend[]> {
  return findNextToSend(em, {
    environment,
    count: 1,
    // A sobre that may be in flight goes before waiting sobres.
    flightSince: new Date(now.getTime() - DEADLINES.slotUnused),
    full: Number.MAX_SAFE_INTEGER,
    notProbedSince: new Date(now.getTime() - PROBE_AGAIN_MILLISECONDS),
  });
}

/**
 * A sobre, with its endpoint locked: gatekeepers and other sends see all changes of a decision or none.
 */
interface Decision {
  readonly em: EntityManager;
  readonly sobre: Sobre;
  readonly endpoint: LockedEndpoint;
}

interface GateOptions {
  readonly orm: Orm;
  readonly sendsPerSecond: number;
  readonly questionsPerSecond: number;
  /** The sending client's breakers, whose cache takes the state that was read with a sobre. */
  readonly breakers?: Pick<GateBreakers, 'noteClosed'>;
  readonly clock?: () => Date;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
  readonly chance?: () => number;
}

/**
 * Creates a gate for `sendsPerSecond` sobres to each reception endpoint and `questionsPerSecond` questions
 * for verdicts. `clock`: a test's, in place of PostgreSQL's.
 */
export function createGate(options: GateOptions): Gate {
  const { orm, clock, pause = sleep, chance = Math.random } = options;
  const stopwatch = createStopwatch(clock);
  const spacingMilliseconds = spacingOf(options.sendsPerSecond);
  const tolerance = toTolerance(spacingMilliseconds);
  const near = { nearMilliseconds: NEAR_MILLISECONDS, clock };

  function decide<T>({ id, environment }: Waiting, work: (decision: Decision) => T | Promise<T>): Promise<T> {
    return orm.em.fork().transactional(async (em) => {
      const endpoint = await lockEndpoint(em, receptionEndpoint(environment), clock);
      return work({ em, endpoint, sobre: await em.findOneOrFail(Sobre, { id }) });
    });
  }

  return {
    async enter({ sobre, slotIn, isAway, failures }) {
      if (slotIn !== null && !isAway) {
        options.breakers?.noteClosed(receptionEndpoint(sobre.environment), failures);
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
        const slot = await takeSlot(orm.em.fork(), { environment, spacingMilliseconds, ...near });
        if (!slot) return false;
        due = stopwatch() + slot.ahead;
      }
    },

    async wait(sobre) {
      await decide(sobre, removeSlot);
    },

    async afterFailure(sobre) {
      const { isOpen } = await readBreaker(orm.em.fork(), receptionEndpoint(sobre.environment), clock);
      return isOpen ? decide(sobre, (decision) => handOverProbe(decision, chance())) : 'tryAgain';
    },

    async leave({ id }, { isProbe }) {
      // The permit may end without a probe, for example when the authority already has the sobre.
      if (isProbe) await dismissProber(orm.em.fork(), id);
    },

    async giveUp(id) {
      const em = orm.em.fork();
      const probedAt = await databaseNow(em, clock);
      await em.nativeUpdate(Sobre, { id }, { probedAt });
      // An OPEN sobre keeps its slot: its next attempt comes automatically.
      await em.nativeUpdate(Sobre, { id, state: { $ne: 'OPEN' } }, { slot: null });
      await dismissProber(em, id);
    },

    untilQuestion: createQuestionLimiter({ ...options, pause, chance }),
  };
}

/** Creates the limiter of questions for verdicts, whose rate all workers share. */
function createQuestionLimiter({
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
    const request = { environment, spacingMilliseconds, nearMilliseconds: RESERVED_MILLISECONDS, clock };
    const taken = await takeQuestionSlot(em, request);
    if (!taken) return { milliseconds: Math.round(RESERVED_MILLISECONDS * (0.5 + chance())), reserved: null };
    if (taken.ahead > NEAR_MILLISECONDS)
      return { milliseconds: Math.round(taken.ahead), reserved: taken.slot };
    if (taken.closedAfter !== null) breakers?.noteClosed(receptionEndpoint(environment), taken.closedAfter);
    if (taken.ahead > 0) await pause(taken.ahead);
    return null;
  };
}

/** A slot of a sobre; `ahead` in milliseconds. */
interface OwnSlot {
  readonly ahead: number;
  readonly isProbe: boolean;
}

/** Admits a sobre that has no slot, or whose endpoint's breaker is open. */
function admit(decision: Decision, spacingMilliseconds: number): OwnSlot | 'waits' | ProbeLater {
  const { sobre, endpoint } = decision;
  const { now, breaker } = endpoint;
  if (breaker.openSince !== null) {
    if (breaker.proberId !== sobre.id) return removeSlot(decision);
    // Shows the gatekeeper that the prober has started.
    sobre.slot = now;
    return admitProber(endpoint, spacingMilliseconds);
  }
  return sobre.slot ? { ahead: sobre.slot.getTime() - now.getTime(), isProbe: false } : 'waits';
}

/** Admits a probe, which takes a slot like any send. */
function admitProber(endpoint: LockedEndpoint, spacingMilliseconds: number): OwnSlot | ProbeLater {
  const { now, breaker } = endpoint;
  const slot = isProbeDue(breaker, now) ? now : (breaker.nextProbeAt ?? now);
  const ahead = slot.getTime() - now.getTime();
  if (ahead > NEAR_MILLISECONDS) return { probeIn: millisecondsToNextProbeCheck(breaker, now) };
  endpoint.takeSlotsBefore(endpoint.freeSlot(new Date(slot.getTime() + spacingMilliseconds)));
  return { ahead, isProbe: true };
}

function removeSlot({ sobre }: Decision): 'waits' {
  sobre.slot = null;
  return 'waits';
}

/** After a failure while the breaker is open: the prober continues or is replaced, all others wait. */
async function handOverProbe(decision: Decision, chance: number): Promise<AfterFailure> {
  const { em, sobre, endpoint } = decision;
  const { now, breaker } = endpoint;
  if (breaker.openSince === null) return 'tryAgain';
  if (breaker.proberId !== sobre.id) return removeSlot(decision);
  // If the question before the send failed, no probe was sent; the question counts as the probe.
  if (endpoint.startProbe()) endpoint.countFailure({ wasProbe: true, chance });
  const [successor] =
    breaker.probes < PROBES_BY_THE_FIRST ? [] : await findFreshProbers(em, sobre.environment, now);
  if (!successor) return { probeIn: millisecondsToNextProbeCheck(breaker, now) };
  endpoint.setProber(null);
  sobre.probedAt = now;
  return removeSlot(decision);
}
