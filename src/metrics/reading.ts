import { withTimeout } from '../db/orm.ts';

/** Longest cache time of a failure: otherwise a value that is read once an hour would be missing for an hour. */
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
  /** A clock in milliseconds of any origin; the process's own by default. */
  clock?: () => number;
}): () => Promise<T | undefined> {
  const { read, keepMilliseconds, patienceMilliseconds, clock = () => performance.now() } = options;
  let latest: Promise<T | undefined> | undefined;
  /** When `latest` expires; never while the query runs. */
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
