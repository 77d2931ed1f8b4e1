import { isDatabaseReachable, type Orm } from '../db/orm.ts';
import { createReading } from '../metrics/reading.ts';

const KEPT_MILLISECONDS = 1_000;
/** `isDatabaseReachable` itself gives up after a second. */
const PATIENCE_MILLISECONDS = 2_000;

/** Whether the database answers, at most a second old; concurrent callers share one check. */
export function createReadinessCheck(orm: Orm): () => Promise<boolean> {
  const look = createReading({
    read: () => isDatabaseReachable(orm),
    keepMilliseconds: KEPT_MILLISECONDS,
    patienceMilliseconds: PATIENCE_MILLISECONDS,
  });
  return async () => (await look()) ?? false;
}
