import { purgeExpiredRows } from '../../db/operations/purge.ts';
import type { Orm } from '../../db/orm.ts';
import type { PurgedTable, Retention } from '../../domain/operations/retention.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';

/** Rows deleted in one transaction, which takes some tens of milliseconds. */
const BATCH = 1_000;

interface DeleteExpiredDeps {
  orm: Orm;
  clock: () => Date;
  retention: Retention;
  /** Called after each batch is deleted; for the metrics. */
  onPurged?: ((table: PurgedTable, rows: number) => void) | undefined;
}

/** Deletes all rows past their retention; a repeat continues where the last attempt stopped. */
export function createDeleteExpired({ clock, ...deps }: DeleteExpiredDeps): Activity<'deleteExpired'> {
  return () =>
    withHeartbeat(async () => ({
      kind: 'purged',
      rows: await purgeExpiredRows(deps.orm, { ...deps, now: clock(), batch: BATCH }),
    }));
}
