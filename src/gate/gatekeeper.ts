import type { EntityManager } from '@mikro-orm/postgresql';
import { type LockedEndpoint, lockEndpoint, receptionOf } from '../db/authorityEndpoints.ts';
import { Sobre } from '../db/entities/authority.ts';
import type { Orm } from '../db/orm.ts';
import { enqueue } from '../db/outbox.ts';
import {
  callSobres,
  countInFlight,
  environmentsWaiting,
  type NewSobre,
  type NextInLine,
  nextInLine,
  noteLastSlots,
  openSobres,
  type WaitingCfe,
  waitingCfes,
} from '../db/sobres.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { DEADLINES } from '../domain/deadlines.ts';
import { MOST_SOBRE_BYTES } from '../domain/sobre.ts';
import { failpoint } from '../failpoints.ts';
import type { Logger } from '../logger.ts';
import { SIGNALS } from '../temporal.ts';
import { createStopwatch } from './breakers.ts';
import { findFreshProbers, HORIZON_MILLISECONDS, spacingOf } from './gate.ts';

const LOOK_MILLISECONDS = 250;
/** What waits gets its signature though nothing can be sent: its receipt can be shown. */
const SIGN_MILLISECONDS = 1_000;
/** So many slots' worth may be let through and not received: more would only wait for a Temporal server that is away. */
const UNDER_WAY_SECONDS = 30;
/** Sobres whose send failed just before an endpoint opened come to wait within a second, and may be the oldest. */
const SETTLING_MILLISECONDS = 1_500;
/** Any number that no other program uses on the database: its holder lets CFEs through. */
const GATE_LOCK = 4_171_984_002;

/** Puts CFEs that wait into sobres, and calls sobres that wait, when there is a slot for them. */
export interface Gatekeeper {
  /** One look: gives slots to what can have one now. For tests; `start` does it all the time. */
  look(): Promise<void>;
  /** A look at once, for what may go now; never throws. */
  scheduleLook(): void;
  start(): void;
  /** Stops looking and lets a look that is under way finish. */
  close(): Promise<void>;
}

interface GatekeeperOptions {
  readonly orm: Orm;
  readonly outbox: { scheduleDispatch(): void };
  readonly logger: Logger;
  readonly sendsPerSecond: number;
  /** So many CFEs share a sobre at most. */
  readonly sobreMost: number;
  /** Signs CFEs that wait and are not signed yet. */
  readonly signWaitingCfes?: () => Promise<void>;
  readonly clock?: () => Date;
}

/**
 * Every worker has one; whoever holds the lock gives the slots, in the order of `nextInLine`. Slot, sobre and message are
 * one transaction: what was let through is started, and what was started was let through. While the endpoint is away one
 * sobre is let through, as the prober, and all else waits as rows. `clock`: a test's, in place of PostgreSQL's.
 */
export function createGatekeeper(options: GatekeeperOptions): Gatekeeper {
  const { orm, outbox, logger, signWaitingCfes, clock } = options;
  const stopwatch = createStopwatch(clock);
  let signedAt = Number.NEGATIVE_INFINITY;
  let closed = false;
  let again = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function look(): Promise<void> {
    for (const environment of await environmentsWaiting(orm.em.fork())) {
      // One sobre of each enterprise at a time: whose CFEs fill more than one gets the next as long as there are slots.
      while ((await orm.em.fork().transactional((em) => letThrough(em, environment, options))) > 0) {
        failpoint('gate.calledStored');
        outbox.scheduleDispatch();
      }
    }
    if (signWaitingCfes && stopwatch() - signedAt >= SIGN_MILLISECONDS) {
      signedAt = stopwatch();
      await signWaitingCfes();
    }
  }

  function scheduleLook(): void {
    if (closed) return;
    if (running) {
      again = true;
      return;
    }
    again = false;
    running = look()
      .catch((err: unknown) => logger.warn({ err }, 'nothing could be let through to the authority'))
      .finally(() => {
        running = null;
        if (again) scheduleLook();
      });
  }

  return {
    look,
    scheduleLook,
    start() {
      timer ??= setInterval(scheduleLook, LOOK_MILLISECONDS);
    },
    async close() {
      closed = true;
      if (timer) clearInterval(timer);
      await running;
    },
  };
}

/** Something that is next, with its slot. */
type Given = NextInLine & { readonly slot: Date };

/** Lets through whatever can have a slot now; how many sobres that are. */
async function letThrough(
  em: EntityManager,
  environment: Environment,
  { sendsPerSecond, sobreMost, clock }: GatekeeperOptions,
): Promise<number> {
  const [lock] = await em.execute<{ mine: boolean }[]>('select pg_try_advisory_xact_lock(?) as mine', [
    GATE_LOCK,
  ]);
  if (!lock?.mine) return 0;
  const endpoint = await lockEndpoint(em, receptionOf(environment), clock);
  const given =
    endpoint.breaker.openSince === null
      ? await slotsInOrder(em, { environment, endpoint, sendsPerSecond, sobreMost })
      : await slotOfProber(em, { environment, endpoint, sobreMost });
  if (given.length > 0) failpoint('gate.called');
  return given.length;
}

interface Chance {
  readonly environment: Environment;
  readonly endpoint: LockedEndpoint;
  readonly sobreMost: number;
}

/** As many as fit before the horizon, each with its slot. */
async function slotsInOrder(
  em: EntityManager,
  { sendsPerSecond, ...chance }: Chance & { sendsPerSecond: number },
): Promise<readonly unknown[]> {
  const { environment, endpoint, sobreMost } = chance;
  const spacing = spacingOf(sendsPerSecond);
  const now = endpoint.now.getTime();
  const first = endpoint.freeSlot(endpoint.now).getTime();
  const fitting = Math.ceil((now + HORIZON_MILLISECONDS - first) / spacing);
  if (fitting <= 0) return [];
  const inFlight = await countInFlight(em, environment, new Date(now - DEADLINES.slotUnused));
  const most = Math.ceil(sendsPerSecond * UNDER_WAY_SECONDS) - inFlight;
  if (most <= 0) return [];
  const next = await nextInLine(em, {
    environment,
    count: Math.min(fitting, most),
    flightSince: new Date(now - DEADLINES.sobreInFlight),
    full: sobreMost,
  });
  endpoint.takeSlotsBefore(new Date(first + next.length * spacing));
  const given = next.map((one, index) => ({ ...one, slot: new Date(first + index * spacing) }));
  await give(em, given, chance);
  return given;
}

/** What tries an endpoint that is away, where there is nothing yet. */
async function slotOfProber(em: EntityManager, chance: Chance): Promise<readonly unknown[]> {
  const { environment, endpoint } = chance;
  const { now, breaker } = endpoint;
  if (breaker.openSince === null || now.getTime() - breaker.openSince.getTime() < SETTLING_MILLISECONDS)
    return [];
  if (breaker.proberId !== null) {
    const prober = await em.findOne(Sobre, { id: breaker.proberId });
    const unheardOfSince = now.getTime() - DEADLINES.slotUnused;
    if (prober?.slot && prober.slot.getTime() > unheardOfSince && isUnsent(prober)) return [];
    // It was decided otherwise, or nothing was heard of it.
    if (prober) Object.assign(prober, { slot: null, probedAt: now });
    await em.flush();
  }
  const [fresh] = await findFreshProbers(em, environment, now);
  const [next] = fresh
    ? [fresh]
    : await nextInLine(em, { environment, count: 1, flightSince: now, full: chance.sobreMost });
  const [proberId] = next ? await give(em, [{ ...next, slot: now }], chance) : [];
  endpoint.appoint(proberId ?? null);
  return next ? [next] : [];
}

const isUnsent = ({ state }: Sobre): boolean =>
  state === 'OPEN' || state === 'PREPARED' || state === 'SENDING';

/** Calls the sobres that are next, and makes those of CFEs that are; answers their ids. */
async function give(
  em: EntityManager,
  given: readonly Given[],
  { environment, endpoint: { now }, sobreMost }: Chance,
): Promise<string[]> {
  if (given.length === 0) return [];
  const called = given.flatMap(({ sobreId, slot }) => (sobreId === null ? [] : [{ sobreId, slot }]));
  await callSobres(em, called, { signal: SIGNALS.slotGiven, now });
  const slots = new Map(given.flatMap(({ rut, sobreId, slot }) => (sobreId === null ? [[rut, slot]] : [])));
  const waiting = await waitingCfes(em, { environment, ruts: [...slots.keys()], most: sobreMost });
  const sobres = [...Map.groupBy(waiting, ({ rut }) => rut)].map(
    ([rut, cfes]): NewSobre => ({
      rut,
      environment,
      slot: slots.get(rut) ?? now,
      cfes: thatGoTogether(cfes),
    }),
  );
  const made = await openSobres(em, sobres, now);
  for (const { message } of made) enqueue(em, message, now);
  await noteLastSlots(em, environment, given);
  return [...called.map(({ sobreId }) => sobreId), ...made.map(({ id }) => id)];
}

/** Those from the first on that share its certificate, by which all CFEs of a sobre are signed, and fit into one. */
function thatGoTogether(cfes: readonly WaitingCfe[]): readonly WaitingCfe[] {
  let bytes = 0;
  const end = cfes.findIndex((cfe, index) => {
    bytes += cfe.bytes;
    return index > 0 && (cfe.certificateId !== cfes[0]?.certificateId || bytes > MOST_SOBRE_BYTES);
  });
  return end < 0 ? cfes : cfes.slice(0, end);
}
