/** Which things a bulk run acts on: one condition each for what is counted, shown and stored with the run. */

import type { EntityManager } from '@mikro-orm/postgresql';
import type { RunFilter, RunKind } from '../domain/run.ts';

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
