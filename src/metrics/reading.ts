import { withTimeout } from '../db/orm.ts';

/** A failure is kept no longer: a value read once an hour would be missing for an hour. */
const FAILURE_KEPT_MILLISECONDS = 300_000;

/**
 * Creates a cached reading from the database for scrapes. It queries at most once in `keepMilliseconds`
 * (after a failure: five minutes at most) and never twice at once, so that scrapes cost little. Returns
 * undefined if the query fails or takes longer than `patienceMilliseconds`.
 */
export function createReading<T>(options: {
  read: () => Promise<T>;
  keepMilliseconds: number;
  patienceMilliseconds: number;
  /** Milliseconds of any origin; default the process's own. */
  clock?: () => number;
}): () => Promise<T | undefined> {
  const { read, keepMilliseconds, patienceMilliseconds, clock = () => performance.now() } = options;
  let latest: Promise<T | undefined> | undefined;
  /** Until when `latest` is used; open-ended while the query runs. */
  let until = Number.POSITIVE_INFINITY;

  async function query(): Promise<T | undefined> {
    until = Number.POSITIVE_INFINITY;
    try {
      const found = await read();
      until = clock() + keepMilliseconds;
      return found;
    } catch {
      until = clock() + Math.min(keepMilliseconds, FAILURE_KEPT_MILLISECONDS);
      return undefined;
    }
  }

  return () => {
    if (!latest || clock() >= until) latest = query();
    return withTimeout(patienceMilliseconds, latest);
  };
}
