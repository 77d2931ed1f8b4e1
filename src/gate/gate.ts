import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  dismissProber,
  glanceAtBreaker,
  type LockedEndpoint,
  lockEndpoint,
  receptionOf,
  takeSlot,
  takeSlotUnlessOthersWait,
} from '../db/authorityEndpoints.ts';
import { QueueEntry } from '../db/entities/authority.ts';
import type { Cfe } from '../db/entities/receipts.ts';
import type { Orm } from '../db/orm.ts';
import { addEntry, nextEntries, removeCalled } from '../db/queueEntries.ts';
import { isProbeDue, nextLookIn } from '../domain/breaker.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import type { SeenBreakers } from './breakers.ts';
import { NEAR_MILLISECONDS, spacingOf, stopwatchBy, toleranceOf } from './pace.ts';

/**
 * So many probes of an outage are made by the CFE that is first in order, half a minute's worth; later ones go to
 * one CFE after another, so that one whose own send is what fails keeps nobody back.
 */
const PROBES_BY_THE_FIRST = 5;
/** A failed prober is skipped for so long while others wait. */
const PROBE_AGAIN_MILLISECONDS = 1_800_000;

/** Leave to send, from a slot on. */
export interface Permit {
  readonly slot: Date;
  /** The slot by the stopwatch of this process (pace.ts). */
  readonly dueAt: number;
  /** Whether the CFE stands in the queue. */
  readonly hasEntry: boolean;
  /** Whether this send tries an endpoint that is away. */
  readonly isProbe: boolean;
}

/** The CFE is the prober, and tries again in so many milliseconds. */
export interface ProbeLater {
  readonly probeIn: number;
}

/** What comes of asking for a permit: it; or the CFE waits, and is called; or it is the prober and tries again then. */
export type Admission = Permit | 'waits' | ProbeLater;

/** What follows after a send, or the question before it, that had no clear answer. */
export type AfterFailure = 'tryAgain' | 'waits' | ProbeLater;

/** The one way of sobres to the authority, shared by all workers through the database. */
export interface Gate {
  /** A permit for a CFE whose sobre is stored. */
  enter(cfe: Cfe): Promise<Admission>;
  /** Resolves at the slot, or at another where that has passed; false where there is none near: then call `wait`. */
  untilSlot(cfe: Cfe, permit: Permit): Promise<boolean>;
  /** Puts the CFE into the queue; it is called when it has a slot. */
  wait(cfe: Cfe): Promise<void>;
  afterFailure(cfe: Cfe): Promise<AfterFailure>;
  /** Takes the CFE out of the queue, within the transaction that makes its permit needless. */
  leave(em: EntityManager, cfe: Cfe, permit: Permit): Promise<void>;
  /** Takes the slot, and the part of the prober, from a CFE that was called; one that waits goes on waiting. */
  giveUp(cfeUuid: string): Promise<void>;
}

/** Who may be the next prober: the first in order of those that have not probed in vain lately, if there is one. */
export function freshProbers(
  em: EntityManager,
  environment: Environment,
  now: Date,
): ReturnType<typeof nextEntries> {
  const notProbedSince = new Date(now.getTime() - PROBE_AGAIN_MILLISECONDS);
  return nextEntries(em, { environment, count: 1, notProbedSince });
}

/** What is decided of a CFE with the endpoint locked, so that gatekeepers and other sends see all of it or nothing. */
interface Decision {
  readonly em: EntityManager;
  readonly cfe: Cfe;
  readonly endpoint: LockedEndpoint;
  readonly entry: QueueEntry | null;
}

/** A gate that lets `sendsPerSecond` through at each reception endpoint. `clock`: a test's, in place of PostgreSQL's. */
export function createGate(options: {
  orm: Orm;
  sendsPerSecond: number;
  /** Those of the client that sends: they hear of an endpoint that was seen when a slot was taken. */
  breakers?: Pick<SeenBreakers, 'seenClosed'>;
  clock?: () => Date;
  pause?: (milliseconds: number) => Promise<unknown>;
  chance?: () => number;
}): Gate {
  const { orm, clock, pause = sleep, chance = Math.random } = options;
  const stopwatch = stopwatchBy(clock);
  const spacingMilliseconds = spacingOf(options.sendsPerSecond);
  const tolerance = toleranceOf(spacingMilliseconds);
  const wishFor = ({ environment }: Cfe) => ({
    environment,
    spacingMilliseconds,
    nearMilliseconds: NEAR_MILLISECONDS,
    clock,
  });

  function decide<T>(cfe: Cfe, work: (decision: Decision) => T | Promise<T>): Promise<T> {
    return orm.em.fork().transactional(async (em) => {
      const endpoint = await lockEndpoint(em, receptionOf(cfe.environment), clock);
      return work({ em, cfe, endpoint, entry: await em.findOne(QueueEntry, { cfeUuid: cfe.id }) });
    });
  }

  return {
    async enter(cfe) {
      const taken = await takeSlotUnlessOthersWait(orm.em.fork(), { ...wishFor(cfe), cfeUuid: cfe.id });
      const dueIn = (ahead: number): number => stopwatch() + ahead;
      if (taken) options.breakers?.seenClosed(receptionOf(cfe.environment), taken.failures);
      if (taken) return { slot: taken.slot, dueAt: dueIn(taken.ahead), hasEntry: false, isProbe: false };
      const admission = await decide(cfe, admit);
      if (admission === 'waits' || 'probeIn' in admission) return admission;
      const { slot, isProbe, ahead } = admission;
      return { slot, dueAt: dueIn(ahead), hasEntry: true, isProbe };
    },

    async untilSlot(cfe, { dueAt, isProbe }) {
      let due = dueAt;
      for (;;) {
        const ahead = due - stopwatch();
        if (ahead > 0) await pause(ahead);
        if (isProbe || stopwatch() - due <= tolerance) return true;
        const taken = await takeSlot(orm.em.fork(), wishFor(cfe));
        if (!taken) return false;
        due = stopwatch() + taken.ahead;
      }
    },

    async wait(cfe) {
      await decide(cfe, waiting);
    },

    async afterFailure(cfe) {
      const { isOpen } = await glanceAtBreaker(orm.em.fork(), receptionOf(cfe.environment), clock);
      return isOpen ? decide(cfe, (decision) => failed(decision, chance())) : 'tryAgain';
    },

    async leave(em, cfe, { hasEntry, isProbe }) {
      if (hasEntry) await em.nativeDelete(QueueEntry, { cfeUuid: cfe.id });
      // It may go without having tried the endpoint, as where the authority has the sobre already: others may then.
      if (isProbe) await dismissProber(em, cfe.id);
    },

    giveUp: (cfeUuid) => giveUp(orm.em.fork(), cfeUuid),
  };
}

async function giveUp(em: EntityManager, cfeUuid: string): Promise<void> {
  if (await removeCalled(em, cfeUuid)) await dismissProber(em, cfeUuid);
}

/** A slot that was given to a CFE in the queue, and how many milliseconds ahead it lies. */
interface SlotOfEntry {
  readonly slot: Date;
  readonly ahead: number;
  readonly isProbe: boolean;
}

/** For a CFE that waits or was called, and where the endpoint is open or others wait. */
async function admit(decision: Decision): Promise<SlotOfEntry | 'waits' | ProbeLater> {
  const { cfe, endpoint, entry } = decision;
  const { now, breaker } = endpoint;
  if (breaker.openSince !== null) {
    if (entry?.slot && breaker.proberUuid === cfe.id) entry.slot = now;
    else if (!(await takesOver(decision))) return waiting(decision);
    return whenProbing(endpoint);
  }
  if (!entry?.slot) return waiting(decision);
  const slot = entry.slot;
  // Somebody works on it: so the gatekeeper knows that the call has come.
  if (slot < now) entry.slot = now;
  return { slot, ahead: slot.getTime() - now.getTime(), isProbe: false };
}

function whenProbing({ now, breaker }: LockedEndpoint): SlotOfEntry | ProbeLater {
  const slot = isProbeDue(breaker, now) ? now : (breaker.nextProbeAt ?? now);
  const ahead = slot.getTime() - now.getTime();
  return ahead > NEAR_MILLISECONDS ? { probeIn: nextLookIn(breaker, now) } : { slot, ahead, isProbe: true };
}

function waiting({ em, cfe, entry }: Decision): 'waits' {
  if (entry) entry.slot = null;
  else addEntry(em, cfe);
  return 'waits';
}

/**
 * Makes a CFE the prober in place of a younger one of its enterprise: one whose own try was still under way when the
 * prober was chosen. False where there is none.
 */
async function takesOver({ em, cfe, endpoint, entry }: Decision): Promise<boolean> {
  const { proberUuid } = endpoint.breaker;
  if (proberUuid === null || entry?.probedAt) return false;
  const prober = await em.findOne(QueueEntry, { cfeUuid: proberUuid });
  if (prober?.rut !== cfe.rut || !isOlder(cfe, prober)) return false;
  (entry ?? addEntry(em, cfe)).slot = endpoint.now;
  endpoint.appoint(cfe.id);
  return true;
}

const isOlder = (cfe: Cfe, { since, sequence }: QueueEntry): boolean =>
  cfe.createdAt < since || (cfe.createdAt.getTime() === since.getTime() && cfe.sequence < sequence);

/** After a failure while the endpoint counts as away: the prober goes on or hands over, everybody else waits. */
async function failed(decision: Decision, chance: number): Promise<AfterFailure> {
  const { em, cfe, endpoint, entry } = decision;
  const { now, breaker } = endpoint;
  if (breaker.openSince === null) return 'tryAgain';
  if (!entry || breaker.proberUuid !== cfe.id) {
    return (await takesOver(decision)) ? { probeIn: nextLookIn(breaker, now) } : waiting(decision);
  }
  // Where the question before the send failed, the probe was not made and counts as one.
  if (endpoint.beginProbe()) endpoint.countFailure({ wasProbe: true, chance });
  const [other] = breaker.probes < PROBES_BY_THE_FIRST ? [] : await freshProbers(em, cfe.environment, now);
  if (!other) return { probeIn: nextLookIn(breaker, now) };
  endpoint.appoint(null);
  entry.probedAt = now;
  return waiting(decision);
}
