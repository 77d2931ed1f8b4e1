import type { EntityManager } from '@mikro-orm/postgresql';
import {
  dismissLostProbers,
  type LockedEndpoint,
  lockEndpoint,
  receptionOf,
} from '../db/authorityEndpoints.ts';
import { issueCfeMessage } from '../db/cfes.ts';
import { QueueEntry } from '../db/entities/authority.ts';
import { Cfe } from '../db/entities/receipts.ts';
import type { Orm } from '../db/orm.ts';
import { enqueue } from '../db/outbox.ts';
import {
  environmentsWaiting,
  type GivenSlot,
  nextEntries,
  releaseEntries,
  takeBackUnused,
} from '../db/queueEntries.ts';
import { databaseNow } from '../db/sql.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { DEADLINES } from '../domain/deadlines.ts';
import { failpoint } from '../failpoints.ts';
import type { Logger } from '../logger.ts';
import { SIGNALS } from '../temporal.ts';
import { freshProbers } from './gate.ts';
import { HORIZON_MILLISECONDS, LEAD_MILLISECONDS, spacingOf, stopwatchBy } from './pace.ts';

const LOOK_MILLISECONDS = 250;
const TAKE_BACK_MILLISECONDS = 10_000;
/** So many slots' worth may be let through and not received: more would only wait for a Temporal server that is away. */
const UNDER_WAY_SECONDS = 30;
/** CFEs whose send failed just before an endpoint opened come to wait within a second, and may be the oldest. */
const SETTLING_MILLISECONDS = 1_500;
/** Any number that no other program uses on the database: its holder lets CFEs through. */
const GATE_LOCK = 4_171_984_002;

/** Calls those that wait at the gate when they have a slot. */
export interface Gatekeeper {
  /** One look: gives slots to those that can have one now. For tests; `start` does it all the time. */
  look(): Promise<void>;
  start(): void;
  /** Stops looking and lets a look that is under way finish. */
  close(): Promise<void>;
}

/**
 * Every worker has one; whoever holds the lock gives the slots, in the order of `nextEntries`. Slot, signal and mark
 * are one transaction: a CFE that was let through is told, and one that was told was let through. While the endpoint is
 * away one CFE is let through, as the prober. `clock`: a test's, in place of PostgreSQL's.
 */
export function createGatekeeper(options: {
  orm: Orm;
  outbox: { dispatchSoon(): void };
  logger: Logger;
  sendsPerSecond: number;
  clock?: () => Date;
}): Gatekeeper {
  const { orm, outbox, logger, sendsPerSecond, clock } = options;
  const stopwatch = stopwatchBy(clock);
  let tookBackAt = Number.NEGATIVE_INFINITY;
  let closed = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function look(): Promise<void> {
    const em = orm.em.fork();
    if (stopwatch() - tookBackAt >= TAKE_BACK_MILLISECONDS) {
      tookBackAt = stopwatch();
      await takeBack(em, clock);
    }
    for (const environment of await environmentsWaiting(em)) {
      const released = await orm.em
        .fork()
        .transactional((one) => letThrough(one, { environment, sendsPerSecond, clock }));
      if (released > 0) failpoint('gate.calledStored');
      if (released > 0) outbox.dispatchSoon();
    }
  }

  function lookAgain(): void {
    if (closed || running) return;
    running = look()
      .catch((err: unknown) => logger.warn({ err }, 'nobody could be let through to the authority'))
      .finally(() => {
        running = null;
      });
  }

  return {
    look,
    start() {
      timer ??= setInterval(lookAgain, LOOK_MILLISECONDS);
    },
    async close() {
      closed = true;
      if (timer) clearInterval(timer);
      await running;
    },
  };
}

/** Lets those wait anew that were called and of whom nothing was heard; probers among them are probers no more. */
async function takeBack(em: EntityManager, clock?: () => Date): Promise<void> {
  const now = await databaseNow(em, clock);
  const unheardOfSince = new Date(now.getTime() - DEADLINES.slotUnused);
  await takeBackUnused(em, unheardOfSince);
  await dismissLostProbers(em);
}

/** Lets through whoever can have a slot now; how many they are. */
async function letThrough(
  em: EntityManager,
  options: { environment: Environment; sendsPerSecond: number; clock: (() => Date) | undefined },
): Promise<number> {
  const { environment, sendsPerSecond, clock } = options;
  const [lock] = await em.execute<{ mine: boolean }[]>('select pg_try_advisory_xact_lock(?) as mine', [
    GATE_LOCK,
  ]);
  if (!lock?.mine) return 0;
  const endpoint = await lockEndpoint(em, receptionOf(environment), clock);
  const given =
    endpoint.breaker.openSince === null
      ? await slotsInOrder(em, environment, endpoint, sendsPerSecond)
      : await slotOfProber(em, environment, endpoint, endpoint.breaker.openSince);
  if (given.length === 0) return 0;
  await releaseEntries(em, environment, given);
  await call(em, given, endpoint.now);
  failpoint('gate.called');
  return given.length;
}

/** As many as fit before the horizon, each with its slot. */
async function slotsInOrder(
  em: EntityManager,
  environment: Environment,
  endpoint: LockedEndpoint,
  sendsPerSecond: number,
): Promise<GivenSlot[]> {
  const spacing = spacingOf(sendsPerSecond);
  const now = endpoint.now.getTime();
  const first = endpoint.freeSlot(new Date(now + LEAD_MILLISECONDS)).getTime();
  const fitting = Math.ceil((now + HORIZON_MILLISECONDS - first) / spacing);
  if (fitting <= 0) return [];
  const most =
    Math.ceil(sendsPerSecond * UNDER_WAY_SECONDS) -
    (await em.count(QueueEntry, { environment, slot: { $ne: null } }));
  if (most <= 0) return [];
  const next = await nextEntries(em, { environment, count: Math.min(fitting, most) });
  endpoint.takeSlotsBefore(new Date(first + next.length * spacing));
  return next.map((entry, index) => ({ ...entry, slot: new Date(first + index * spacing) }));
}

/** The CFE that tries an endpoint that is away, where there is none yet. */
async function slotOfProber(
  em: EntityManager,
  environment: Environment,
  endpoint: LockedEndpoint,
  openSince: Date,
): Promise<GivenSlot[]> {
  const { now, breaker } = endpoint;
  if (now.getTime() - openSince.getTime() < SETTLING_MILLISECONDS) return [];
  if (breaker.proberUuid !== null) {
    const entry = await em.findOne(QueueEntry, { cfeUuid: breaker.proberUuid });
    if (entry?.slot) return [];
    // It was decided otherwise, or nothing was heard of it.
    if (entry) entry.probedAt = now;
    await em.flush();
  }
  const [fresh] = await freshProbers(em, environment, now);
  const [prober] = fresh ? [fresh] : await nextEntries(em, { environment, count: 1 });
  endpoint.appoint(prober?.cfeUuid ?? null);
  return prober ? [{ ...prober, slot: now }] : [];
}

/** Signals those that were given a slot, with the open transaction. */
async function call(em: EntityManager, given: readonly GivenSlot[], now: Date): Promise<void> {
  const found = await em.find(Cfe, { id: { $in: given.map(({ cfeUuid }) => cfeUuid) } });
  const cfes = new Map(found.map((cfe) => [cfe.id, cfe]));
  for (const { cfeUuid } of given) {
    const cfe = cfes.get(cfeUuid);
    if (cfe) enqueue(em, issueCfeMessage(cfe, SIGNALS.slotGiven), now);
  }
}
