/**
 * The CFEs or deliveries that a bulk run acts on: one condition for counting, listing and storing.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { StuckKind } from '../../domain/operations/cfeProgress.ts';
import type { RunFilter, RunKind, StuckCfeFilter, UndeliveredFilter } from '../../domain/operations/run.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import type { DeliveryStatus } from '../../domain/webhooks/webhook.ts';
import type { ListPage } from '../page.ts';
import { conditionBuilder, type Fragment, runSql, whereAll } from '../sql.ts';
import { waitsForRetrySql } from '../webhooks/deliveries.ts';

interface RunTargets {
  /** The tables and the condition. */
  readonly from: Fragment;
  readonly where: Fragment;
  /** Since when an item waits; with the id it orders the items. */
  readonly since: Fragment;
  readonly id: Fragment;
  /** The reason for which an item matches. */
  readonly was: Fragment;
}

/** Returns the items that a run of this kind would act on. */
export const selectRunTargets = (kind: RunKind, filter: RunFilter): RunTargets =>
  kind === 'redeliver' ? targetUndelivered(filter) : targetStuckCfes(filter);

const cfe = conditionBuilder<'cfe'>();

const targetStuckCfes = ({
  ids,
  rut,
  environment,
  type,
  status,
  stuckReason,
  since,
}: RunFilter): RunTargets => ({
  from: sql`cfe`,
  where: whereAll(
    sql`cfe.stuck_reason is not null`,
    cfe.and({
      'cfe.rut': rut,
      'cfe.environment': environment,
      'cfe.type': type,
      'cfe.status': status,
      'cfe.stuck_reason': stuckReason,
    }),
    since !== undefined && sql`cfe.created_at >= ${since}`,
    ids && sql`cfe.id = any (${ids}::uuid[])`,
  ),
  since: sql`cfe.created_at`,
  id: sql`cfe.id`,
  was: sql`cfe.stuck_reason`,
});

/** When a delivery was given up or, if it waits for a retry, last refused. */
const REFUSED_AT = sql`coalesce(delivery.settled_at, (select max(at) from delivery_attempt where delivery_id = delivery.id))`;

const targetUndelivered = ({ ids, webhook, event, since }: RunFilter): RunTargets => ({
  from: sql`delivery join webhook on webhook.id = delivery.webhook_id and webhook.removed_at is null`,
  where: whereAll(
    sql`(delivery.status = 'FAILED' or ${sql.raw(waitsForRetrySql('delivery'))})`,
    webhook !== undefined && sql`delivery.webhook_id = ${webhook}`,
    event !== undefined && sql`delivery.event_name = ${event}`,
    since !== undefined && sql`${REFUSED_AT} >= ${since}`,
    ids && sql`delivery.id = any (${ids}::uuid[])`,
  ),
  since: REFUSED_AT,
  id: sql`delivery.id`,
  was: sql`delivery.event_name`,
});

/** Counts the items of a run, up to `filter.limit`. */
export async function countRunTargets(em: EntityManager, kind: RunKind, filter: RunFilter): Promise<number> {
  const { from, where } = selectRunTargets(kind, filter);
  const rows = await runSql(em)<{ count: number }>`
    select count(*)::int as count from ${from} where ${where}`;
  return Math.min(rows[0]?.count ?? 0, filter.limit ?? Number.POSITIVE_INFINITY);
}

/** The CFEs with one stuck reason: how many, of how many enterprises, and since when the oldest exists. */
export interface StuckGroup {
  readonly reason: StuckReason;
  readonly environment: Environment;
  readonly count: number;
  readonly enterprises: number;
  readonly oldest: Date;
}

/** Counts stuck CFEs by reason and environment, largest first. */
export async function countStuckByReason(em: EntityManager): Promise<StuckGroup[]> {
  const rows = await runSql(em)<Omit<StuckGroup, 'oldest'> & { oldest: string }>`
    select stuck_reason as reason, environment, count(*)::int as count,
      count(distinct rut)::int as enterprises, min(created_at) as oldest
    from cfe where stuck_reason is not null
    group by stuck_reason, environment order by count desc, reason`;
  return rows.map(({ oldest, ...row }) => ({ ...row, oldest: new Date(oldest) }));
}

type CountedKind = StuckKind & Pick<StuckGroup, 'environment'>;

/** Counts the stuck CFEs of a filter by the facts that decide which actions are possible. */
export async function countStuckByKind(em: EntityManager, filter: StuckCfeFilter): Promise<CountedKind[]> {
  const { from, where } = selectRunTargets('retry', filter);
  return runSql(em)<CountedKind>`
    select stuck_reason as "stuckReason", environment, status, digest is not null as "isSigned", count(*)::int as count
    from ${from} where ${where} group by 1, 2, 3, 4`;
}

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

/** Returns a page of stuck CFEs, oldest first. */
export const listStuckCfes = (
  em: EntityManager,
  filter: StuckCfeFilter,
  page: ListPage,
): Promise<StuckCfe[]> =>
  listTargets(em, selectRunTargets('retry', filter), page, {
    columns: sql`cfe.rut, enterprise.legal_name as "legalName", cfe.environment, cfe.type, cfe.sequence, cfe.serie,
      cfe.numero, cfe.status, cfe.stuck_reason as reason`,
    join: sql`join enterprise on enterprise.rut = cfe.rut`,
  });

/** An undelivered event as lists show it. */
export interface Undelivered {
  readonly id: string;
  readonly status: DeliveryStatus;
  readonly nextAttemptAt: Date | null;
  readonly event: string;
  readonly url: string;
  readonly rut: string | null;
  readonly since: string;
}

/** Returns a page of deliveries that were given up or wait for a retry, oldest first. */
export async function listUndelivered(
  em: EntityManager,
  filter: UndeliveredFilter,
  page: ListPage,
): Promise<Undelivered[]> {
  const rows = await listTargets<Omit<Undelivered, 'nextAttemptAt'> & { next: string | null }>(
    em,
    selectRunTargets('redeliver', filter),
    page,
    {
      columns: sql`delivery.event_name as event, webhook.url, event.rut, delivery.status, delivery.next_attempt_at as next`,
      join: sql`join event on event.id = delivery.event_id`,
    },
  );
  return rows.map(({ next, ...row }) => ({ ...row, nextAttemptAt: next === null ? null : new Date(next) }));
}

async function listTargets<Row>(
  em: EntityManager,
  { from, where, since, id }: RunTargets,
  { after, limit }: ListPage,
  { columns, join }: { columns: Fragment; join: Fragment },
): Promise<Row[]> {
  const condition = whereAll(where, after && sql`(${since}, ${id}) > (${after[0]}, ${after[1]})`);
  return runSql(em)<Row>`
    select ${id}, ${since}::text as since, ${columns} from ${from} ${join}
    where ${condition} order by ${since}, ${id} limit ${limit}`;
}
