/** Which things a bulk run acts on: one condition each for what is counted, shown and stored with the run. */

import type { EntityManager } from '@mikro-orm/postgresql';
import type { StuckKind } from '../domain/cfeStanding.ts';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import type { FailedFilter, RunFilter, RunKind, StuckFilter } from '../domain/run.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { milliseconds } from './clock.ts';

interface Matching {
  /** From which tables, under which condition, oldest first by which column. */
  readonly from: string;
  readonly where: string;
  readonly values: readonly unknown[];
  /** The moment since when it waits, as a column; with the id it orders what matches. */
  readonly since: string;
  readonly id: string;
  /** What made it match. */
  readonly was: string;
}

/** What a run of that kind would act on. */
export const matchingOf = (kind: RunKind, filter: RunFilter): Matching =>
  kind === 'redeliver' ? failedDeliveries(filter) : stuckCfes(filter);

function stuckCfes(filter: RunFilter): Matching {
  const { ids, rut, environment, type, status, stuckReason, since } = filter;
  return {
    from: 'cfe',
    ...allOf(['cfe.stuck_reason is not null'], {
      'cfe.rut = ?': rut,
      'cfe.environment = ?': environment,
      'cfe.type = ?': type,
      'cfe.status = ?': status,
      'cfe.stuck_reason = ?': stuckReason,
      'cfe.created_at >= ?::timestamptz': since,
      'cfe.id = any (?::uuid[])': arrayOf(ids),
    }),
    since: 'cfe.created_at',
    id: 'cfe.id',
    was: 'cfe.stuck_reason',
  };
}

function failedDeliveries({ ids, webhook, event, since }: RunFilter): Matching {
  return {
    from: 'delivery join webhook on webhook.id = delivery.webhook_id and webhook.removed_at is null',
    ...allOf([`delivery.status = 'FAILED'`], {
      'delivery.webhook_id = ?::uuid': webhook,
      'delivery.event_name = ?': event,
      'delivery.settled_at >= ?::timestamptz': since,
      'delivery.id = any (?::uuid[])': arrayOf(ids),
    }),
    since: 'delivery.settled_at',
    id: 'delivery.id',
    was: 'delivery.event_name',
  };
}

const arrayOf = (ids: readonly string[] | undefined): string | undefined => ids && `{${ids.join(',')}}`;

/** Every condition whose value is given, beside those that always hold. */
function allOf(
  always: readonly string[],
  given: Readonly<Record<string, string | undefined>>,
): Pick<Matching, 'where' | 'values'> {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    where: [...always, ...set.map(([condition]) => condition)].join(' and '),
    values: set.map(([, value]) => value),
  };
}

/** How many things match; with `limit`, not more than that. */
export async function countMatching(em: EntityManager, kind: RunKind, filter: RunFilter): Promise<number> {
  const { from, where, values } = matchingOf(kind, filter);
  const [row] = await em.execute<{ count: number }[]>(
    `select count(*)::int as count from ${from} where ${where}`,
    [...values],
  );
  return Math.min(row?.count ?? 0, filter.limit ?? Number.POSITIVE_INFINITY);
}

/** A reason for which CFEs are stuck, how many, of how many enterprises, and since when the oldest is there. */
export interface StuckGroup {
  readonly reason: StuckReason;
  readonly environment: Environment;
  readonly count: number;
  readonly enterprises: number;
  readonly oldest: Date;
}

/** Stuck CFEs by reason and environment, the most first. */
export async function stuckGroups(em: EntityManager): Promise<StuckGroup[]> {
  const rows = await em.execute<(Omit<StuckGroup, 'oldest'> & { oldest: number })[]>(
    `select stuck_reason as reason, environment, count(*)::int as count,
       count(distinct rut)::int as enterprises, ${milliseconds('min(created_at)')} as oldest
     from cfe where stuck_reason is not null group by stuck_reason, environment order by count desc, reason`,
  );
  return rows.map(({ oldest, ...row }) => ({ ...row, oldest: new Date(oldest) }));
}

/** Stuck CFEs that a filter finds, counted by what decides what can be done about them. */
export async function stuckKinds(
  em: EntityManager,
  filter: StuckFilter,
): Promise<(StuckKind & Pick<StuckGroup, 'environment'>)[]> {
  const { from, where, values } = matchingOf('retry', filter);
  return em.execute(
    `select stuck_reason as "stuckReason", environment, status, digest is not null as "isSigned", count(*)::int as count
     from ${from} where ${where} group by 1, 2, 3, 4`,
    [...values],
  ) as Promise<(StuckKind & Pick<StuckGroup, 'environment'>)[]>;
}

/** A place in a list of what matches: since when it waits, exactly, and its id. */
export type MatchingPlace = readonly string[];

/** A stuck CFE as lists show it. */
export interface StuckCfe {
  readonly id: string;
  readonly rut: string;
  readonly legalName: string;
  readonly environment: Environment;
  readonly type: CfeType;
  readonly sequence: number;
  readonly serie: string;
  readonly numero: number;
  readonly status: CfeStatus;
  readonly reason: StuckReason;
  readonly since: string;
}

/** Stuck CFEs, oldest first. */
export const listStuck = (
  em: EntityManager,
  filter: StuckFilter,
  page: { after: MatchingPlace | null; limit: number },
): Promise<StuckCfe[]> =>
  pageOf(em, matchingOf('retry', filter), page, {
    columns: `cfe.rut, enterprise.legal_name as "legalName", cfe.environment, cfe.type, cfe.sequence, cfe.serie, cfe.numero,
      cfe.status, cfe.stuck_reason as reason`,
    join: 'join enterprise on enterprise.rut = cfe.rut',
  });

/** A delivery that was given up, as lists show it. */
export interface FailedDelivery {
  readonly id: string;
  readonly event: string;
  readonly url: string;
  readonly rut: string | null;
  readonly since: string;
}

/** Deliveries that were given up, oldest first. */
export const listFailed = (
  em: EntityManager,
  filter: FailedFilter,
  page: { after: MatchingPlace | null; limit: number },
): Promise<FailedDelivery[]> =>
  pageOf(em, matchingOf('redeliver', filter), page, {
    columns: 'delivery.event_name as event, webhook.url, event.rut',
    join: 'join event on event.id = delivery.event_id',
  });

function pageOf<Row>(
  em: EntityManager,
  { from, where, values, since, id }: Matching,
  { after, limit }: { after: MatchingPlace | null; limit: number },
  { columns, join }: { columns: string; join: string },
): Promise<Row[]> {
  const behind = after ? `and (${since}, ${id}) > (?::timestamptz, ?::uuid)` : '';
  return em.execute(
    `select ${id}, ${since}::text as since, ${columns} from ${from} ${join}
     where ${where} ${behind} order by ${since}, ${id} limit ?`,
    [...values, ...(after ?? []), limit],
  ) as Promise<Row[]>;
}
