import type { Orm } from '../db/orm.ts';
import { purgeExpired } from '../db/purge.ts';
import type { PurgedTable, Retention } from '../domain/retention.ts';
import type { Activity } from './activities.ts';
import { withHeartbeat } from './steps/attempt.ts';

/** Rows taken out in one transaction: some tens of milliseconds. */
const BATCH = 1_000;

interface DeleteExpiredDeps {
  orm: Orm;
  clock: () => Date;
  retention: Retention;
  /** Told of every batch once it is gone; for the metrics. */
  onPurged?: ((table: PurgedTable, rows: number) => void) | undefined;
}

/** Takes out all rows whose time is over; its repeat goes on where it was broken off. */
export function createDeleteExpired({ clock, ...deps }: DeleteExpiredDeps): Activity<'deleteExpired'> {
  return () =>
    withHeartbeat(async () => ({
      kind: 'purged',
      rows: await purgeExpired(deps.orm, { ...deps, now: clock(), batch: BATCH }),
    }));
}
