import { isDatabaseReachable, type Orm } from '../db/orm.ts';
import { createReading } from '../metrics/reading.ts';

const KEPT_MILLISECONDS = 1_000;
/** Longer than `isDatabaseReachable`, which gives up after a second. */
const PATIENCE_MILLISECONDS = 2_000;

/** Creates a check whether the database answers; callers within a second share one result. */
export function createReadinessCheck(orm: Orm): () => Promise<boolean> {
  const look = createReading({
    read: () => isDatabaseReachable(orm),
    keepMilliseconds: KEPT_MILLISECONDS,
    patienceMilliseconds: PATIENCE_MILLISECONDS,
  });
  return async () => (await look()) ?? false;
}
