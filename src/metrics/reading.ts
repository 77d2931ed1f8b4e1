import { within } from '../db/within.ts';

/**
 * What a scrape reads from the database: asked at most once in `keepMilliseconds`, and not again while a query is
 * open, so that no number of scrapes is a burden. Undefined where it fails or takes longer than `patienceMilliseconds`:
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
      return await read();
    } catch {
      return undefined;
    } finally {
      until = clock() + keepMilliseconds;
    }
  }

  return () => {
    if (!latest || clock() >= until) latest = ask();
    return within(patienceMilliseconds, latest);
  };
}
