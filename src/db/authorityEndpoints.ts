import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { type Endpoint, WRONG_CLOCK_MILLISECONDS } from '../domain/breaker.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { AuthorityEndpoint } from './entities/AuthorityEndpoint.ts';

/** How an endpoint of the authority stands, for operators. */
export interface EndpointState {
  readonly endpoint: Endpoint;
  /** Since when it is away, so that nothing goes there but a probe; null where it answers, or nobody asks any more. */
  readonly openSince: Date | null;
  /** How many CFEs wait for their turn to be sent there. */
  readonly waiting: number;
}

/** The endpoint to which an environment's sobres are sent. */
export const receptionOf = (environment: Environment): Endpoint => `${environment}/reception`;

/** A probe that could have gone so long ago, and did not, means that nobody wants anything of the endpoint. */
const UNASKED_MILLISECONDS = 300_000;

/** Every endpoint, by name, as it is at `now`. */
export async function endpointStates(em: EntityManager, now: Date): Promise<EndpointState[]> {
  const rows = await em.find(AuthorityEndpoint, {}, { orderBy: { name: 'asc' } });
  const counts = await em.execute<{ environment: Environment; count: number }[]>(
    'select environment, count(*)::int as count from authority_turn where released_for is null group by environment',
  );
  const waiting = new Map(counts.map(({ environment, count }) => [receptionOf(environment), count]));
  return rows.map(({ name, openSince, nextProbeAt }) => {
    const isAsked = nextProbeAt !== null && now.getTime() - nextProbeAt.getTime() < UNASKED_MILLISECONDS;
    return { endpoint: name, openSince: isAsked ? openSince : null, waiting: waiting.get(name) ?? 0 };
  });
}

/** The endpoint as it is stored now. */
export function readEndpoint(em: EntityManager, name: Endpoint): Promise<AuthorityEndpoint> {
  return em.findOneOrFail(AuthorityEndpoint, { name });
}

/** The endpoint, locked until the open transaction ends: changes of it follow one another. */
export function lockEndpoint(em: EntityManager, name: Endpoint): Promise<AuthorityEndpoint> {
  return em.findOneOrFail(AuthorityEndpoint, { name }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Forgets failures that an answer has made good; an endpoint that is open stays so. */
export async function forgetFailures(em: EntityManager, name: Endpoint): Promise<void> {
  await em.nativeUpdate(AuthorityEndpoint, { name, openSince: null }, { failures: 0 });
}

/** A CFE that is the probe of an endpoint is it no more. */
export async function freeProber(em: EntityManager, cfeId: string): Promise<void> {
  await em.nativeUpdate(AuthorityEndpoint, { proberId: cfeId }, { proberId: null });
}

/** When a send may go: `nearMilliseconds` from now at most, the next one `spacingMilliseconds` later. */
export interface SlotWish {
  readonly environment: Environment;
  readonly now: Date;
  readonly spacingMilliseconds: number;
  readonly nearMilliseconds: number;
}

/** The next free slot, taken; null where the endpoint is open or the slot is not near. */
export function takeSlot(em: EntityManager, wish: SlotWish): Promise<Date | null> {
  return takeSlotWhere(em, wish, '', []);
}

/**
 * The next free slot, taken, for a CFE that has not waited: null also where others wait, or where this one has come to
 * wait itself. The one statement of a send in quiet times.
 */
export function takeSlotUnlessOthersWait(
  em: EntityManager,
  wish: SlotWish & { cfeId: string },
): Promise<Date | null> {
  return takeSlotWhere(
    em,
    wish,
    `and not exists (select from authority_turn where environment = ? and released_for is null)
     and not exists (select from authority_turn where cfe_id = ?)`,
    [wish.environment, wish.cfeId],
  );
}

async function takeSlotWhere(
  em: EntityManager,
  { environment, now, spacingMilliseconds, nearMilliseconds }: SlotWish,
  condition: string,
  values: readonly string[],
): Promise<Date | null> {
  const after = (milliseconds: number): string => new Date(now.getTime() + milliseconds).toISOString();
  const wrongFrom = after(spacingMilliseconds + WRONG_CLOCK_MILLISECONDS);
  const [row] = await em.execute<{ slot: number }[]>(
    `update authority_endpoint
     set next_free_at = case when next_free_at > ?::timestamptz then ?::timestamptz
       else greatest(next_free_at, ?::timestamptz) end + ? * interval '1 millisecond'
     where name = ? and open_since is null
       and (next_free_at <= ?::timestamptz or next_free_at > ?::timestamptz) ${condition}
     returning extract(epoch from next_free_at)::float8 * 1000 - ? as slot`,
    [
      wrongFrom,
      after(0),
      after(0),
      spacingMilliseconds,
      receptionOf(environment),
      after(nearMilliseconds),
      wrongFrom,
      ...values,
      spacingMilliseconds,
    ],
  );
  return row ? new Date(Math.round(row.slot)) : null;
}
