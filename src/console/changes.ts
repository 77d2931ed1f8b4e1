/**
 * Notifies open pages of changes; each page then reloads itself with the rights of its viewer. One query serves all pages of
 * a process, and only while a page is open (docs/decisions/console.md#how-open-pages-learn-of-changes).
 */

import { readChangeCounts, TOPICS, type Topic } from '../db/operations/changeCounts.ts';
import type { Database } from '../db/orm.ts';
import type { Logger } from '../logger.ts';

export type { Topic } from '../db/operations/changeCounts.ts';

/** Pause between two queries. */
const POLL_MILLISECONDS = 2_000;

export interface ChangeWatch {
  /** Calls `notify` after each change of one of the topics, until the returned function is called. */
  listen(topics: readonly Topic[], notify: () => void): () => void;
  /** Returns the number of listeners. */
  count(): number;
  /** Stops the queries and aborts `closed`. */
  close(): void;
  readonly closed: AbortSignal;
}

/** Creates a watch that queries the database only while it has listeners. */
export function createChangeWatch(deps: {
  orm: Database;
  logger: Logger;
  pollMilliseconds?: number;
}): ChangeWatch {
  const { orm, logger, pollMilliseconds = POLL_MILLISECONDS } = deps;
  const listeners = new Set<{ topics: readonly Topic[]; notify: () => void }>();
  const closing = new AbortController();
  let isPolling = false;

  async function poll(): Promise<void> {
    isPolling = true;
    let before = await counts();
    while (listeners.size > 0 && !closing.signal.aborted) {
      await pause(pollMilliseconds, closing.signal);
      const after = await counts();
      const changed = TOPICS.filter((topic) => before && after && before[topic] !== after[topic]);
      before = after ?? before;
      for (const { topics, notify } of listeners) {
        if (topics.some((topic) => changed.includes(topic))) notify();
      }
    }
    isPolling = false;
  }

  async function counts(): Promise<Record<Topic, string> | undefined> {
    try {
      return await readChangeCounts(orm.em.fork());
    } catch (err) {
      logger.warn({ err }, 'changes cannot be read; open pages stay as they are');
      return undefined;
    }
  }

  return {
    listen(topics, notify) {
      const listener = { topics, notify };
      listeners.add(listener);
      if (!isPolling) void poll();
      return () => void listeners.delete(listener);
    },
    count: () => listeners.size,
    close: () => closing.abort(),
    closed: closing.signal,
  };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}
