import { within } from '../db/orm.ts';

/** A failure is kept no longer: what is read once an hour would be missing for an hour. */
const FAILURE_KEPT_MILLISECONDS = 300_000;

/**
 * What a scrape reads from the database: asked at most once in `keepMilliseconds`, after a failure in five minutes at
 * the latest, and not again while a query is open, so that no number of scrapes is a burden. Undefined where it fails or takes longer than `patienceMilliseconds`:
 * a scrape then goes without.
 */
export function createReading<T>(options: {
  read: () => Promise<T>;
  keepMilliseconds: number;
  patienceMilliseconds: number;
  /** Milliseconds of any origin; the process's own unless told. */
  clock?: () => number;
}): () => Promise<T | undefined> {
  const { read, keepMilliseconds, patienceMilliseconds, clock = () => performance.now() } = options;
  let latest: Promise<T | undefined> | undefined;
  /** Until when `latest` counts; open-ended while it is not answered. */
  let until = Number.POSITIVE_INFINITY;

  async function ask(): Promise<T | undefined> {
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
    if (!latest || clock() >= until) latest = ask();
    return within(patienceMilliseconds, latest);
  };
}
