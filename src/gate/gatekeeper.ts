import type { EntityManager } from '@mikro-orm/postgresql';
import { type LockedEndpoint, lockEndpoint, receptionEndpoint } from '../db/authority/authorityEndpoints.ts';
import {
  countSobresInFlight,
  findNextToSend,
  grantSlots,
  listWaitingCfes,
  listWaitingEnvironments,
  type NewSobre,
  type NextToSend,
  openSobres,
  storeLastSlots,
  type WaitingCfe,
} from '../db/authority/sobres.ts';
import { Sobre } from '../db/entities/authority.ts';
import type { Orm } from '../db/orm.ts';
import { enqueue } from '../db/outbox.ts';
import { DEADLINES } from '../domain/authority/deadlines.ts';
import { MOST_SOBRE_BYTES } from '../domain/authority/sobre.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { failpoint } from '../failpoints.ts';
import type { Logger } from '../logger.ts';
import { SIGNALS } from '../temporal.ts';
import { createStopwatch } from './breakers.ts';
import { findFreshProbers, HORIZON_MILLISECONDS, spacingOf } from './gate.ts';

const LOOK_MILLISECONDS = 250;
/** Waiting CFEs are signed even while nothing can be sent, so that their receipts can be shown. */
const SIGN_MILLISECONDS = 1_000;
/** Slots' worth that may be called and not yet received: more would only wait for an unavailable Temporal. */
const UNDER_WAY_SECONDS = 30;
/**
 * Sobres whose send failed just before a breaker opened start to wait within a second, and may be the oldest.
 */
const SETTLING_MILLISECONDS = 1_500;
/** A number no other program uses on the database; the holder of this lock assigns the slots. */
const GATE_LOCK = 4_171_984_002;

/** Puts waiting CFEs into sobres and calls waiting sobres when there is a slot for them. */
export interface Gatekeeper {
  /** Looks once and assigns slots. For tests; `start` looks regularly. */
  look(): Promise<void>;
  /** Looks at once; never throws. */
  scheduleLook(): void;
  start(): void;
  /** Stops looking; resolves after the look under way. */
  close(): Promise<void>;
}

interface GatekeeperOptions {
  readonly orm: Orm;
  readonly outbox: { scheduleDispatch(): void };
  readonly logger: Logger;
  readonly sendsPerSecond: number;
  /** The most CFEs that share a sobre. */
  readonly sobreMost: number;
  /** Signs waiting CFEs that are unsigned. */
  readonly signWaitingCfes?: () => Promise<void>;
  /** Signs and accepts CFEs that are never sent; returns whether more may wait. */
  readonly acceptReportOnlyCfes?: () => Promise<boolean>;
  readonly clock?: () => Date;
}

/**
 * Creates the gatekeeper of a worker; of all workers' gatekeepers the holder of the lock assigns the slots,
 * in the order of `findNextToSend`. Slot, sobre and message are one transaction, so that a slot never exists
 * without a start. While the endpoint is unavailable one sobre is called, as the prober, and all others wait
 * as rows. `clock`: a test's, in place of PostgreSQL's.
 */
export function createGatekeeper(options: GatekeeperOptions): Gatekeeper {
  const { orm, outbox, logger, signWaitingCfes, acceptReportOnlyCfes, clock } = options;
  const stopwatch = createStopwatch(clock);
  let signedAt = Number.NEGATIVE_INFINITY;
  let closed = false;
  let again = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function look(): Promise<void> {
    for (const environment of await listWaitingEnvironments(orm.em.fork())) {
      // One sobre of each enterprise per round: an enterprise with more CFEs gets the next while slots are
      // left.
      while ((await orm.em.fork().transactional((em) => assignSlots(em, environment, options))) > 0) {
        failpoint('gate.calledStored');
        outbox.scheduleDispatch();
      }
    }
    if (signWaitingCfes && stopwatch() - signedAt >= SIGN_MILLISECONDS) {
      signedAt = stopwatch();
      await signWaitingCfes();
    }
    // Last: it throws as long as one CFE cannot be accepted.
    if (await acceptReportOnlyCfes?.()) again = true;
  }

  function scheduleLook(): void {
    if (closed) return;
    if (running) {
      again = true;
      return;
    }
    again = false;
    running = look()
      .catch((err: unknown) => logger.warn({ err }, 'no slots could be assigned for the authority'))
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

/** The next CFE or sobre in line, with its slot. */
type Assigned = NextToSend & { readonly slot: Date };

/** Assigns slots to all that can have one now; returns the number of sobres. */
async function assignSlots(
  em: EntityManager,
  environment: Environment,
  { sendsPerSecond, sobreMost, clock }: GatekeeperOptions,
): Promise<number> {
  const [lock] = await em.execute<{ mine: boolean }[]>('select pg_try_advisory_xact_lock(?) as mine', [
    GATE_LOCK,
  ]);
  if (!lock?.mine) return 0;
  const endpoint = await lockEndpoint(em, receptionEndpoint(environment), clock);
  const assigned =
    endpoint.breaker.openSince === null
      ? await assignInOrder(em, { environment, endpoint, sendsPerSecond, sobreMost })
      : await assignToProber(em, { environment, endpoint, sobreMost });
  if (assigned.length > 0) failpoint('gate.called');
  return assigned.length;
}

interface Chance {
  readonly environment: Environment;
  readonly endpoint: LockedEndpoint;
  readonly sobreMost: number;
}

/** Assigns slots in order, as many as fit before the horizon. */
async function assignInOrder(
  em: EntityManager,
  { sendsPerSecond, ...chance }: Chance & { sendsPerSecond: number },
): Promise<readonly unknown[]> {
  const { environment, endpoint, sobreMost } = chance;
  const spacing = spacingOf(sendsPerSecond);
  const now = endpoint.now.getTime();
  const first = endpoint.freeSlot(endpoint.now).getTime();
  const slotsLeft = Math.ceil((now + HORIZON_MILLISECONDS - first) / spacing);
  if (slotsLeft <= 0) return [];
  const inFlight = await countSobresInFlight(em, environment, new Date(now - DEADLINES.slotUnused));
  const most = Math.ceil(sendsPerSecond * UNDER_WAY_SECONDS) - inFlight;
  if (most <= 0) return [];
  const next = await findNextToSend(em, {
    environment,
    count: Math.min(slotsLeft, most),
    flightSince: new Date(now - DEADLINES.sobreInFlight),
    full: sobreMost,
  });
  endpoint.takeSlotsBefore(new Date(first + next.length * spacing));
  const assigned = next.map((one, index) => ({ ...one, slot: new Date(first + index * spacing) }));
  await callAssigned(em, assigned, chance);
  return assigned;
}

/** Appoints a prober of an unavailable endpoint, if it has no prober. */
async function assignToProber(em: EntityManager, chance: Chance): Promise<readonly unknown[]> {
  const { environment, endpoint } = chance;
  const { now, breaker } = endpoint;
  if (breaker.openSince === null || now.getTime() - breaker.openSince.getTime() < SETTLING_MILLISECONDS)
    return [];
  if (breaker.proberId !== null) {
    const prober = await em.findOne(Sobre, { id: breaker.proberId });
    const silentSince = now.getTime() - DEADLINES.slotUnused;
    if (prober?.slot && prober.slot.getTime() > silentSince && isUnsent(prober)) return [];
    // It was decided meanwhile, or did not start in time.
    if (prober) Object.assign(prober, { slot: null, probedAt: now });
    await em.flush();
  }
  const [fresh] = await findFreshProbers(em, environment, now);
  const [next] = fresh
    ? [fresh]
    : await findNextToSend(em, { environment, count: 1, flightSince: now, full: chance.sobreMost });
  const [proberId] = next ? await callAssigned(em, [{ ...next, slot: now }], chance) : [];
  endpoint.setProber(proberId ?? null);
  return next ? [next] : [];
}

const isUnsent = ({ state }: Sobre): boolean =>
  state === 'OPEN' || state === 'PREPARED' || state === 'SENDING';

/** Calls the next sobres and makes new ones of the next CFEs; returns their ids. */
async function callAssigned(
  em: EntityManager,
  assigned: readonly Assigned[],
  { environment, endpoint: { now }, sobreMost }: Chance,
): Promise<string[]> {
  if (assigned.length === 0) return [];
  const called = assigned.flatMap(({ sobreId, slot }) => (sobreId === null ? [] : [{ sobreId, slot }]));
  await grantSlots(em, called, { signal: SIGNALS.slotGiven, now });
  const slots = new Map(
    assigned.flatMap(({ rut, sobreId, slot }) => (sobreId === null ? [[rut, slot]] : [])),
  );
  const waiting = await listWaitingCfes(em, { environment, ruts: [...slots.keys()], most: sobreMost });
  const sobres = [...Map.groupBy(waiting, ({ rut }) => rut)].map(
    ([rut, cfes]): NewSobre => ({
      rut,
      environment,
      slot: slots.get(rut) ?? now,
      cfes: takeOneSobre(cfes),
    }),
  );
  const made = await openSobres(em, sobres, now);
  for (const { message } of made) enqueue(em, message, now);
  await storeLastSlots(em, environment, assigned);
  return [...called.map(({ sobreId }) => sobreId), ...made.map(({ id }) => id)];
}

/** Returns the first CFEs that share a certificate, which signs a whole sobre, and fit into one. */
function takeOneSobre(cfes: readonly WaitingCfe[]): readonly WaitingCfe[] {
  let bytes = 0;
  const end = cfes.findIndex((cfe, index) => {
    bytes += cfe.bytes;
    return index > 0 && (cfe.certificateId !== cfes[0]?.certificateId || bytes > MOST_SOBRE_BYTES);
  });
  return end < 0 ? cfes : cfes.slice(0, end);
}
