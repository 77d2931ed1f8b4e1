/** The endpoints of the authority: the only module that reads or writes the table authority_endpoint. */
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import {
  type Breaker,
  closeBreaker,
  countFailure,
  type Endpoint,
  startProbe,
} from '../../domain/authority/breaker.ts';
import { ENVIRONMENTS, type Environment } from '../../domain/receipts/cfeTypes.ts';
import { AuthorityEndpoint } from '../entities/authority.ts';
import { originalStatusSql } from '../receipts/references.ts';
import { databaseNow, millisecondsSql, NOW, nowParameter } from '../sql.ts';
import { countWaitingCfes } from './sobres.ts';

/** The state of an authority endpoint, for operators. */
export interface EndpointState {
  readonly endpoint: Endpoint;
  /** Since when the endpoint is unavailable and gets only probes; null while it answers, or while no one calls it. */
  readonly openSince: Date | null;
  /** When the next probe may go, while the endpoint is unavailable. */
  readonly nextProbeAt: Date | null;
  /** How many CFEs wait to be sent there. */
  readonly waiting: number;
}

/** Returns the endpoint that receives an environment's sobres. */
export const receptionEndpoint = (environment: Environment): Endpoint => `${environment}/reception`;

/** A probe overdue by this much means that no one needs the endpoint any more. */
const UNASKED_MILLISECONDS = 300_000;

/** Returns every endpoint, by name. `clock`: a test's clock. */
export async function listEndpointStates(em: EntityManager, clock?: () => Date): Promise<EndpointState[]> {
  const now = await databaseNow(em, clock);
  const rows = await em.find(AuthorityEndpoint, {}, { orderBy: { name: 'asc' } });
  const waiting = new Map(
    [...(await countWaitingCfes(em))].map(([environment, count]) => [receptionEndpoint(environment), count]),
  );
  return rows.map(({ name, openSince, nextProbeAt }) => {
    const isAsked = nextProbeAt !== null && now.getTime() - nextProbeAt.getTime() < UNASKED_MILLISECONDS;
    const isAway = isAsked && openSince !== null;
    return {
      endpoint: name,
      openSince: isAway ? openSince : null,
      nextProbeAt: isAway ? nextProbeAt : null,
      waiting: waiting.get(name) ?? 0,
    };
  });
}

/** The state of the authority in an environment, and how long CFEs have waited for it. */
export interface AuthorityState {
  readonly environment: Environment;
  /** Since when no sobres are sent; null while sobres are sent. */
  readonly openSince: Date | null;
  /** When the authority last recovered. */
  readonly closedAt: Date | null;
  /** CFEs that wait for the authority alone. */
  readonly waiting: number;
  /** When the oldest waiting CFE was taken. */
  readonly oldestSince: Date | null;
}

/**
 * Returns the state of the authority by environment. Leaves out CFEs that wait for support, or for the verdict on a
 * CFE that they refer to.
 */
export async function listAuthorityStates(em: EntityManager): Promise<AuthorityState[]> {
  const waiting = await em.execute<{ environment: Environment; count: number; oldest: number }[]>(
    `select cfe.environment, count(*)::int as count, ${millisecondsSql('min(cfe.created_at)')} as oldest
     from cfe
     where cfe.settled_at is null and cfe.stuck_reason is null and not cfe.report_only
       and coalesce(${originalStatusSql('cfe')}, 'ACCEPTED') in ('ACCEPTED', 'OBSERVED')
     group by cfe.environment`,
  );
  const rows = await em.find(AuthorityEndpoint, { name: { $in: ENVIRONMENTS.map(receptionEndpoint) } });
  return ENVIRONMENTS.map((environment) => {
    const row = rows.find(({ name }) => name === receptionEndpoint(environment));
    const found = waiting.find((one) => one.environment === environment);
    return {
      environment,
      openSince: row?.openSince ?? null,
      closedAt: row?.closedAt ?? null,
      waiting: found?.count ?? 0,
      oldestSince: found ? new Date(found.oldest) : null,
    };
  });
}

/** A breaker, read without a lock. */
export interface BreakerReading {
  readonly failures: number;
  readonly isOpen: boolean;
  /** Milliseconds until the next probe may go; null while the breaker is closed. */
  readonly probeIn: number | null;
}

/** Reads the breaker of an endpoint without a lock. `clock`: a test's clock. */
export async function readBreaker(
  em: EntityManager,
  name: Endpoint,
  clock?: () => Date,
): Promise<BreakerReading> {
  const [row] = await em.execute<BreakerReading[]>(
    `select failures, open_since is not null as "isOpen", ${millisecondsSql(`(next_probe_at - ${NOW})`)} as "probeIn"
     from authority_endpoint where name = ?`,
    [nowParameter(clock), name],
  );
  if (!row) throw new Error(`the endpoint ${name} has no row`);
  return row;
}

/** An endpoint that is locked until the open transaction ends, and its changes. */
export interface LockedEndpoint {
  /** The moment after the lock was taken, by PostgreSQL's clock. */
  readonly now: Date;
  readonly breaker: Readonly<Breaker>;
  countFailure(how: { wasProbe: boolean; chance: number }): void;
  /** Returns whether a probe may go now, and counts it if so. */
  startProbe(): boolean;
  close(): void;
  /** Makes a sobre the prober; null: removes the prober. */
  setProber(sobreId: string | null): void;
  /** Returns the first free slot from `earliest` on. */
  freeSlot(earliest: Date): Date;
  /** Marks all slots before `moment` as taken. */
  takeSlotsBefore(moment: Date): void;
}

/** Locks an endpoint, so that its changes follow one another. `clock`: a test's clock. */
export async function lockEndpoint(
  em: EntityManager,
  name: Endpoint,
  clock?: () => Date,
): Promise<LockedEndpoint> {
  const row = await em.findOneOrFail(AuthorityEndpoint, { name }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const now = await databaseNow(em, clock);
  return {
    now,
    breaker: row,
    countFailure: (how) => countFailure(row, { ...how, now }),
    startProbe: () => startProbe(row, now),
    close: () => {
      closeBreaker(row);
      row.closedAt = now;
    },
    setProber(sobreId) {
      row.proberId = sobreId;
    },
    freeSlot: (earliest) => (row.nextFreeAt > earliest ? row.nextFreeAt : earliest),
    takeSlotsBefore(moment) {
      row.nextFreeAt = moment;
    },
  };
}

/** Stops a sobre from being the prober of an endpoint. */
export async function dismissProber(em: EntityManager, sobreId: string): Promise<void> {
  await em.nativeUpdate(AuthorityEndpoint, { proberId: sobreId }, { proberId: null });
}

/** A request for a slot at most `nearMilliseconds` from now; the next slot is `spacingMilliseconds` later. */
export interface SlotRequest {
  readonly environment: Environment;
  readonly spacingMilliseconds: number;
  readonly nearMilliseconds: number;
  /** A test's clock. */
  readonly clock: (() => Date) | undefined;
}

/** A taken slot, and how many milliseconds ahead it is. */
export interface TakenSlot {
  readonly slot: Date;
  readonly ahead: number;
  /** Failures that the breaker of the reception has counted; null while it is open. */
  readonly closedAfter: number | null;
}

/** Takes the next free slot; null if the breaker is open or the slot is too far ahead. */
export function takeSlot(em: EntityManager, request: SlotRequest): Promise<TakenSlot | null> {
  return takeSlotWhere(
    em,
    { ...request, endpoint: receptionEndpoint(request.environment) },
    'and open_since is null',
  );
}

/** Takes a slot for a request without CFEs; null also while CFEs wait. */
export function takeSlotUnlessCfesWait(em: EntityManager, request: SlotRequest): Promise<TakenSlot | null> {
  return takeSlotWhere(
    em,
    { ...request, endpoint: receptionEndpoint(request.environment) },
    `and open_since is null and not others_wait(split_part(name, '/', 1))`,
  );
}

/** Takes the next free slot for a question about verdicts; null if it is too far ahead. */
export function takeQuestionSlot(em: EntityManager, request: SlotRequest): Promise<TakenSlot | null> {
  return takeSlotWhere(em, { ...request, endpoint: `${request.environment}/consultation` }, '');
}

async function takeSlotWhere(
  em: EntityManager,
  { endpoint, spacingMilliseconds, nearMilliseconds, clock }: SlotRequest & { endpoint: Endpoint },
  condition: string,
): Promise<TakenSlot | null> {
  const now = nowParameter(clock);
  const [row] = await em.execute<{ slot: number; now: number; closedAfter: number | null }[]>(
    `update authority_endpoint
     set next_free_at = greatest(next_free_at, ${NOW}) + ? * interval '1 millisecond'
     where name = ? and next_free_at <= ${NOW} + ? * interval '1 millisecond' ${condition}
     returning ${millisecondsSql('next_free_at')} - ? as slot, ${millisecondsSql(NOW)} as now,
       (select failures from authority_endpoint reception where open_since is null
          and reception.name = split_part(authority_endpoint.name, '/', 1) || '/reception') as "closedAfter"`,
    [now, spacingMilliseconds, endpoint, now, nearMilliseconds, spacingMilliseconds, now],
  );
  if (!row) return null;
  const { slot, now: then, closedAfter } = row;
  return { slot: new Date(Math.round(slot)), ahead: slot - then, closedAfter };
}
