import type { EntityManager } from '@mikro-orm/postgresql';
import { lockEndpoint, receptionOf } from '../db/authorityEndpoints.ts';
import {
  countReleased,
  environmentsWaiting,
  findTurn,
  type NextInTurn,
  nextInTurn,
  releaseTurns,
  takeBackUnused,
} from '../db/authorityTurns.ts';
import type { AuthorityEndpoint } from '../db/entities/AuthorityEndpoint.ts';
import { Cfe } from '../db/entities/Cfe.ts';
import type { Orm } from '../db/orm.ts';
import { enqueue } from '../db/outbox.ts';
import { WRONG_CLOCK_MILLISECONDS } from '../domain/breaker.ts';
import { formatCfeId } from '../domain/cfeId.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { failpoint } from '../failpoints.ts';
import type { Logger } from '../logger.ts';
import { issueCfeMessage } from '../temporal.ts';
import { freshProbers } from './gate.ts';
import { HORIZON_MILLISECONDS, LEAD_MILLISECONDS, spacingOf } from './pace.ts';

const LOOK_MILLISECONDS = 250;
/** An attempt lasts no longer (workflows/options.ts): a turn of which nothing was heard since is given anew. */
const UNUSED_MILLISECONDS = 200_000;
const TAKE_BACK_MILLISECONDS = 10_000;
/** So many slots' worth may be let through and not received: more would only wait for a Temporal server that is away. */
const UNDER_WAY_SECONDS = 30;
/** CFEs whose send failed just before an endpoint opened come to wait within a second, and may be the oldest. */
const SETTLING_MILLISECONDS = 1_500;
/** Any number that no other program uses on the database: its holder lets CFEs through. */
const GATE_LOCK = 4_171_984_002;

/** Lets those through that wait for their turn. */
export interface Gatekeeper {
  /** One look: gives turns to those that can have one now. For tests; `start` does it all the time. */
  look(): Promise<void>;
  start(): void;
  /** Stops looking and lets a look that is under way finish. */
  close(): Promise<void>;
}

/**
 * Every worker has one; whoever holds the lock gives the turns, each a slot of its own, in the order of
 * `nextInTurn`. Slot, signal and mark are one transaction: a CFE that was let through is told, and one that was told
 * was let through. While the endpoint is away one CFE is let through, as the probe.
 */
export function createGatekeeper(options: {
  orm: Orm;
  clock: () => Date;
  outbox: { dispatchSoon(): void };
  logger: Logger;
  sendsPerSecond: number;
}): Gatekeeper {
  const { orm, clock, outbox, logger, sendsPerSecond } = options;
  const spacing = spacingOf(sendsPerSecond);
  let tookBackAt = 0;
  let closed = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function look(): Promise<void> {
    const em = orm.em.fork();
    const now = clock();
    if (Math.abs(now.getTime() - tookBackAt) >= TAKE_BACK_MILLISECONDS) {
      tookBackAt = now.getTime();
      await takeBackUnused(em, new Date(now.getTime() - UNUSED_MILLISECONDS));
    }
    for (const environment of await environmentsWaiting(em)) {
      const released = await orm.em.fork().transactional((one) => letThrough(one, environment));
      if (released > 0) failpoint('gate.calledStored');
      if (released > 0) outbox.dispatchSoon();
    }
  }

  async function letThrough(em: EntityManager, environment: Environment): Promise<number> {
    const [lock] = await em.execute<{ mine: boolean }[]>('select pg_try_advisory_xact_lock(?) as mine', [
      GATE_LOCK,
    ]);
    if (!lock?.mine) return 0;
    const endpoint = await lockEndpoint(em, receptionOf(environment));
    const turns =
      endpoint.openSince === null
        ? await turnsInOrder(em, environment, endpoint)
        : await probeOf(em, environment, endpoint, endpoint.openSince);
    if (turns.length === 0) return 0;
    await releaseTurns(em, environment, turns);
    await call(em, turns);
    failpoint('gate.called');
    return turns.length;
  }

  /** As many as fit before the horizon, each with its slot. */
  async function turnsInOrder(em: EntityManager, environment: Environment, endpoint: AuthorityEndpoint) {
    const now = clock().getTime();
    const free = endpoint.nextFreeAt.getTime();
    const isWrong = free - now > spacing + WRONG_CLOCK_MILLISECONDS;
    const first = Math.max(isWrong ? 0 : free, now + LEAD_MILLISECONDS);
    const fitting = Math.ceil((now + HORIZON_MILLISECONDS - first) / spacing);
    if (fitting <= 0) return [];
    const most = Math.ceil(sendsPerSecond * UNDER_WAY_SECONDS) - (await countReleased(em, environment));
    if (most <= 0) return [];
    const next = await nextInTurn(em, { environment, count: Math.min(fitting, most) });
    endpoint.nextFreeAt = new Date(first + next.length * spacing);
    return next.map((turn, index) => ({ ...turn, slot: new Date(first + index * spacing) }));
  }

  /** The CFE that tries an endpoint that is away, where there is none yet. */
  async function probeOf(
    em: EntityManager,
    environment: Environment,
    endpoint: AuthorityEndpoint,
    openSince: Date,
  ) {
    const now = clock();
    const opened = now.getTime() - openSince.getTime();
    if (Math.abs(opened) < SETTLING_MILLISECONDS) return [];
    if (endpoint.proberId !== null) {
      const turn = await findTurn(em, endpoint.proberId);
      if (turn?.releasedFor) return [];
      // It was settled otherwise, or nothing was heard of it.
      if (turn) turn.probedAt = now;
      await em.flush();
    }
    const [fresh] = await freshProbers(em, environment, now);
    const [prober] = fresh ? [fresh] : await nextInTurn(em, { environment, count: 1 });
    endpoint.proberId = prober?.cfeId ?? null;
    return prober ? [{ ...prober, slot: now }] : [];
  }

  async function call(em: EntityManager, turns: readonly NextInTurn[]): Promise<void> {
    const now = clock();
    const cfes = new Map(
      (await em.find(Cfe, { id: { $in: turns.map(({ cfeId }) => cfeId) } })).map((cfe) => [cfe.id, cfe]),
    );
    for (const { cfeId } of turns) {
      const cfe = cfes.get(cfeId);
      if (!cfe) continue;
      const { id, rut, environment, type, status } = cfe;
      const start = issueCfeMessage({ id, rut, environment, type, status, cfeId: formatCfeId(cfe) });
      enqueue(em, { ...start, signal: 'turnCame' }, now);
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
