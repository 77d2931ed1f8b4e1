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
/** Seconds of sends that may be in flight: more sobres would only wait for an unavailable Temporal. */
const UNDER_WAY_SECONDS = 30;
/**
 * Wait before a prober is chosen: sobres whose send failed just before the breaker opened may be the oldest.
 */
const SETTLING_MILLISECONDS = 1_500;
/** Key of the advisory lock whose holder assigns the slots: a number that no other program uses on the database. */
const GATE_LOCK = 4_171_984_002;

/** Puts waiting CFEs into sobres and calls waiting sobres when there is a slot for them. */
export interface Gatekeeper {
  /** Assigns slots once. For tests; `start` does so regularly. */
  look(): Promise<void>;
  /** Assigns slots in the background; never throws. */
  scheduleLook(): void;
  start(): void;
  /** Stops assigning slots; resolves after the current `look`. */
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
 * Creates the gatekeeper of a worker; of all gatekeepers the holder of the lock assigns the slots, in the order of
 * `findNextToSend`. Slot, sobre and message are stored in one transaction: no slot without a workflow. While the endpoint
 * is unavailable, the gatekeeper calls one sobre, the prober. `clock`: a test's, in place of PostgreSQL's.
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
      // Each round gives an enterprise one sobre; enterprises with more CFEs get another while slots are left.
      while ((await orm.em.fork().transactional((em) => assignSlots(em, environment, options))) > 0) {
        failpoint('gate.calledStored');
        outbox.scheduleDispatch();
      }
    }
    if (signWaitingCfes && stopwatch() - signedAt >= SIGN_MILLISECONDS) {
      signedAt = stopwatch();
      await signWaitingCfes();
    }
    // Last, because it throws while a CFE cannot be accepted.
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

/** Assigns the free slots up to the horizon; returns the number of sobres. */
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

interface SlotContext {
  readonly environment: Environment;
  readonly endpoint: LockedEndpoint;
  readonly sobreMost: number;
}

/** Assigns slots in order of waiting, as many as fit before the horizon. */
async function assignInOrder(
  em: EntityManager,
  { sendsPerSecond, ...context }: SlotContext & { sendsPerSecond: number },
): Promise<readonly unknown[]> {
  const { environment, endpoint, sobreMost } = context;
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
  await callAssigned(em, assigned, context);
  return assigned;
}

/** Appoints a prober of an unavailable endpoint, if it has no prober. */
async function assignToProber(em: EntityManager, context: SlotContext): Promise<readonly unknown[]> {
  const { environment, endpoint } = context;
  const { now, breaker } = endpoint;
  if (breaker.openSince === null || now.getTime() - breaker.openSince.getTime() < SETTLING_MILLISECONDS)
    return [];
  if (breaker.proberId !== null) {
    const prober = await em.findOne(Sobre, { id: breaker.proberId });
    const silentSince = now.getTime() - DEADLINES.slotUnused;
    if (prober?.slot && prober.slot.getTime() > silentSince && isUnsent(prober)) return [];
    // The prober has its verdict, or did not start in time.
    if (prober) Object.assign(prober, { slot: null, probedAt: now });
    await em.flush();
  }
  const [fresh] = await findFreshProbers(em, environment, now);
  const [next] = fresh
    ? [fresh]
    : await findNextToSend(em, { environment, count: 1, flightSince: now, full: context.sobreMost });
  const [proberId] = next ? await callAssigned(em, [{ ...next, slot: now }], context) : [];
  endpoint.setProber(proberId ?? null);
  return next ? [next] : [];
}

const isUnsent = ({ state }: Sobre): boolean =>
  state === 'OPEN' || state === 'PREPARED' || state === 'SENDING';

/** Calls waiting sobres, and puts waiting CFEs into new sobres; returns the ids of all these sobres. */
async function callAssigned(
  em: EntityManager,
  assigned: readonly Assigned[],
  { environment, endpoint: { now }, sobreMost }: SlotContext,
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
  const opened = await openSobres(em, sobres, now);
  for (const { message } of opened) enqueue(em, message, now);
  await storeLastSlots(em, environment, assigned);
  return [...called.map(({ sobreId }) => sobreId), ...opened.map(({ id }) => id)];
}

/** Returns the first CFEs that fit into one sobre and share a certificate, which signs the whole sobre. */
function takeOneSobre(cfes: readonly WaitingCfe[]): readonly WaitingCfe[] {
  let bytes = 0;
  const end = cfes.findIndex((cfe, index) => {
    bytes += cfe.bytes;
    return index > 0 && (cfe.certificateId !== cfes[0]?.certificateId || bytes > MOST_SOBRE_BYTES);
  });
  return end < 0 ? cfes : cfes.slice(0, end);
}
