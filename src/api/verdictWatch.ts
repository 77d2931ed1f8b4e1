/** Waiting for verdicts: one look at the table for all who wait in this process, not one for each. */
import { settledAmong } from '../db/cfes.ts';
import type { Database } from '../db/orm.ts';
import type { Logger } from '../logger.ts';
import type { Waiting } from './route.ts';

/** Pause between two looks while somebody waits. */
const LOOK_MILLISECONDS = 200;

export interface VerdictWatch {
  /**
   * Resolves when the CFE has its verdict, the time is over, the caller is gone or the watch is closed, whichever is
   * first; never rejects. Holds no connection to the database meanwhile.
   */
  wait(cfeId: string, waiting: Waiting): Promise<void>;
  /** Ends all waiting, now and for good. */
  close(): void;
}

/** A watch over the verdicts that the worker stores. It looks only while somebody waits. */
export function createVerdictWatch(deps: { orm: Database; logger: Logger }): VerdictWatch {
  const waiting = new Map<string, Set<() => void>>();
  const closing = new AbortController();
  let looking = false;

  async function look(): Promise<void> {
    looking = true;
    while (waiting.size > 0) {
      await pause(LOOK_MILLISECONDS);
      await release();
    }
    looking = false;
  }

  async function release(): Promise<void> {
    try {
      for (const id of await settledAmong(deps.orm.em.fork(), [...waiting.keys()])) {
        for (const end of waiting.get(id) ?? []) end();
      }
    } catch (err) {
      deps.logger.warn({ err }, 'verdicts cannot be looked up; those who wait go on waiting');
    }
  }

  return {
    wait(cfeId, { seconds, signal }) {
      const ended = AbortSignal.any([signal, closing.signal]);
      if (ended.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          ended.removeEventListener('abort', end);
          const others = waiting.get(cfeId);
          others?.delete(end);
          if (others?.size === 0) waiting.delete(cfeId);
          resolve();
        };
        const timer = setTimeout(end, seconds * 1_000);
        ended.addEventListener('abort', end);
        waiting.set(cfeId, (waiting.get(cfeId) ?? new Set()).add(end));
        if (!looking) void look();
      });
    },
    close: () => closing.abort(),
  };
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
