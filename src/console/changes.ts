/**
 * Tells open pages that something changed, and nothing more: they fetch themselves anew, with the rights of whoever looks. One
 * question to the database serves all pages of a process, and none is asked while none is open
 * (docs/decisions/console.md#how-open-pages-learn-of-changes).
 */

import { readChangeCounts, TOPICS, type Topic } from '../db/changeCounts.ts';
import type { Database } from '../db/orm.ts';
import type { Logger } from '../logger.ts';

export type { Topic } from '../db/changeCounts.ts';

/** Pause between two questions. */
const LOOK_MILLISECONDS = 2_000;

export interface ChangeWatch {
  /** Calls `tell` whenever one of the topics changes, until the function that it answers is called. */
  listen(topics: readonly Topic[], tell: () => void): () => void;
  /** How many listen. */
  count(): number;
  /** Ends all listening; `onClose` of each is called. */
  close(): void;
  readonly closed: AbortSignal;
}

/** A watch that asks only while somebody listens. */
export function createChangeWatch(deps: {
  orm: Database;
  logger: Logger;
  lookMilliseconds?: number;
}): ChangeWatch {
  const { orm, logger, lookMilliseconds = LOOK_MILLISECONDS } = deps;
  const listeners = new Set<{ topics: readonly Topic[]; tell: () => void }>();
  const closing = new AbortController();
  let looking = false;

  async function look(): Promise<void> {
    looking = true;
    let before = await counts();
    while (listeners.size > 0 && !closing.signal.aborted) {
      await pause(lookMilliseconds, closing.signal);
      const after = await counts();
      const changed = TOPICS.filter((topic) => before && after && before[topic] !== after[topic]);
      before = after ?? before;
      for (const { topics, tell } of listeners) {
        if (topics.some((topic) => changed.includes(topic))) tell();
      }
    }
    looking = false;
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
    listen(topics, tell) {
      const listener = { topics, tell };
      listeners.add(listener);
      if (!looking) void look();
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
