/** The endpoints of the authority: the only module that reads or writes the table authority_endpoint. */
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { type Breaker, beginProbe, close, countFailure, type Endpoint } from '../domain/breaker.ts';
import { ENVIRONMENTS, type Environment } from '../domain/cfeTypes.ts';
import { AuthorityEndpoint } from './entities/authority.ts';
import { countWaitingCfes } from './sobres.ts';
import { databaseNow, millisecondsSql, NOW, nowParameter } from './sql.ts';

/** How an endpoint of the authority stands, for operators. */
export interface EndpointState {
  readonly endpoint: Endpoint;
  /** Since when it is away, so that nothing goes there but a probe; null where it answers, or nobody asks any more. */
  readonly openSince: Date | null;
  /** When it is tried next, while it is away. */
  readonly nextProbeAt: Date | null;
  /** How many CFEs wait to be sent there. */
  readonly waiting: number;
}

/** The endpoint to which an environment's sobres are sent. */
export const receptionEndpoint = (environment: Environment): Endpoint => `${environment}/reception`;

/** A probe that could have gone so long ago, and did not, means that nobody wants anything of the endpoint. */
const UNASKED_MILLISECONDS = 300_000;

/** Every endpoint, by name. `clock`: that of a test. */
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

/** How the authority stands for an environment, and how long CFEs have waited for it. */
export interface AuthorityState {
  readonly environment: Environment;
  /** Since when sobres do not go there; null while they do. */
  readonly openSince: Date | null;
  /** When it was last found to answer again. */
  readonly closedAt: Date | null;
  /** CFEs that wait for the authority and for nobody else. */
  readonly waiting: number;
  /** When the oldest of them was taken. */
  readonly oldestSince: Date | null;
}

/**
 * How the authority stands, by environment. A CFE that waits for support, or for the verdict on the CFE that it
 * corrects, does not wait for the authority.
 */
export async function listAuthorityStates(em: EntityManager): Promise<AuthorityState[]> {
  const waiting = await em.execute<{ environment: Environment; count: number; oldest: number }[]>(
    `select cfe.environment, count(*)::int as count, ${millisecondsSql('min(cfe.created_at)')} as oldest
     from cfe left join cfe original on original.id = cfe.reference_id
     where cfe.settled_at is null and cfe.stuck_reason is null
       and (original.id is null or original.status in ('ACCEPTED', 'OBSERVED'))
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

/** A breaker as it stands, without a lock. */
export interface BreakerReading {
  readonly failures: number;
  readonly isOpen: boolean;
  /** In how many milliseconds the next probe may go; null while it is closed. */
  readonly probeIn: number | null;
}

/** The breaker of an endpoint as it is stored now. `clock`: that of a test. */
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

/** An endpoint that is locked until the open transaction ends, and what may be changed of it. */
export interface LockedEndpoint {
  /** The moment after the lock was taken, by PostgreSQL's clock. */
  readonly now: Date;
  readonly breaker: Readonly<Breaker>;
  countFailure(how: { wasProbe: boolean; chance: number }): void;
  /** Whether a probe may go now; if so it is counted. */
  beginProbe(): boolean;
  close(): void;
  /** Makes a sobre the prober; null: none is. */
  appoint(sobreId: string | null): void;
  /** The first slot that is free from `earliest` on. */
  freeSlot(earliest: Date): Date;
  /** Takes the slots before that moment. */
  takeSlotsBefore(moment: Date): void;
}

/** Locks an endpoint: changes of it follow one another. `clock`: that of a test. */
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
    beginProbe: () => beginProbe(row, now),
    close: () => {
      close(row);
      row.closedAt = now;
    },
    appoint(sobreId) {
      row.proberId = sobreId;
    },
    freeSlot: (earliest) => (row.nextFreeAt > earliest ? row.nextFreeAt : earliest),
    takeSlotsBefore(moment) {
      row.nextFreeAt = moment;
    },
  };
}

/** Ends the part of a sobre that is the prober of an endpoint. */
export async function dismissProber(em: EntityManager, sobreId: string): Promise<void> {
  await em.nativeUpdate(AuthorityEndpoint, { proberId: sobreId }, { proberId: null });
}

/** When a send may go: `nearMilliseconds` from now at most, the next one `spacingMilliseconds` later. */
export interface SlotRequest {
  readonly environment: Environment;
  readonly spacingMilliseconds: number;
  readonly nearMilliseconds: number;
  /** That of a test. */
  readonly clock: (() => Date) | undefined;
}

/** A slot that was taken, and how many milliseconds ahead it lies. */
export interface TakenSlot {
  readonly slot: Date;
  readonly ahead: number;
  /** How many failures the breaker of the reception has counted; null while it is open. */
  readonly closedAfter: number | null;
}

/** The next free slot, taken; null where the endpoint is open or the slot is not near. */
export function takeSlot(em: EntityManager, wish: SlotRequest): Promise<TakenSlot | null> {
  return takeSlotWhere(
    em,
    { ...wish, endpoint: receptionEndpoint(wish.environment) },
    'and open_since is null',
  );
}

/** The same for what has no CFE: null also where CFEs wait. */
export function takeSlotUnlessCfesWait(em: EntityManager, wish: SlotRequest): Promise<TakenSlot | null> {
  return takeSlotWhere(
    em,
    { ...wish, endpoint: receptionEndpoint(wish.environment) },
    `and open_since is null and not others_wait(split_part(name, '/', 1))`,
  );
}

/** The next free moment for a question about verdicts, taken; null where it is not near. */
export function takeQuestionSlot(em: EntityManager, wish: SlotRequest): Promise<TakenSlot | null> {
  return takeSlotWhere(em, { ...wish, endpoint: `${wish.environment}/consultation` }, '');
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
