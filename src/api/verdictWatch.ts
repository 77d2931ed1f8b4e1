/** Waiting for verdicts: one query for all requests that wait in this process, not one for each. */
import { filterDecided } from '../db/cfes.ts';
import type { Database } from '../db/orm.ts';
import type { Logger } from '../logger.ts';

/** Pause between two queries while a request waits. */
const LOOK_MILLISECONDS = 200;

/** How long a caller who sent `Prefer: wait` is ready to wait. */
export interface Waiting {
  readonly seconds: number;
  /** Aborted when the caller's connection is gone. */
  readonly signal: AbortSignal;
}

export interface VerdictWatch {
  /**
   * Resolves when the CFE has its verdict, the time is up, the caller has gone or the watch is closed, whichever comes
   * first; never rejects. Holds no database connection meanwhile.
   */
  wait(cfeUuid: string, waiting: Waiting): Promise<void>;
  /** Ends all waiting, now and for good. */
  close(): void;
}

/** A watch for the verdicts that the worker stores. It queries only while a request waits. */
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
      for (const id of await filterDecided(deps.orm.em.fork(), [...waiting.keys()])) {
        for (const end of waiting.get(id) ?? []) end();
      }
    } catch (err) {
      deps.logger.warn({ err }, 'verdicts cannot be read; waiting requests go on waiting');
    }
  }

  return {
    wait(cfeUuid, { seconds, signal }) {
      const ended = AbortSignal.any([signal, closing.signal]);
      if (ended.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          ended.removeEventListener('abort', end);
          const others = waiting.get(cfeUuid);
          others?.delete(end);
          if (others?.size === 0) waiting.delete(cfeUuid);
          resolve();
        };
        const timer = setTimeout(end, seconds * 1_000);
        ended.addEventListener('abort', end);
        waiting.set(cfeUuid, (waiting.get(cfeUuid) ?? new Set()).add(end));
        if (!looking) void look();
      });
    },
    close: () => closing.abort(),
  };
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
