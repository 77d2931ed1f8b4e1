/** Waits for verdicts: one query for all waiting requests of this process. */

import type { Database } from '../../db/orm.ts';
import { filterDecided } from '../../db/receipts/cfes.ts';
import type { Logger } from '../../logger.ts';

/** Pause between two queries while a request waits. */
const LOOK_MILLISECONDS = 200;

/** How long a caller waits (`Prefer: wait`). */
export interface WaitOptions {
  readonly seconds: number;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
}

export interface VerdictWatch {
  /**
   * Resolves at the verdict on the CFE, the timeout, the caller's disconnect or `close`, whichever is first. Never rejects,
   * and occupies no database connection.
   */
  wait(cfeUuid: string, waiting: WaitOptions): Promise<void>;
  /** Ends all waiting, permanently. */
  close(): void;
}

/** Creates a watch for stored verdicts. It queries only while a request waits. */
export function createVerdictWatch(deps: { orm: Database; logger: Logger }): VerdictWatch {
  const waiting = new Map<string, Set<() => void>>();
  const closing = new AbortController();
  let looking = false;

  async function queryWhileWaiting(): Promise<void> {
    looking = true;
    while (waiting.size > 0) {
      await pause(LOOK_MILLISECONDS);
      await resolveDecided();
    }
    looking = false;
  }

  async function resolveDecided(): Promise<void> {
    try {
      for (const id of await filterDecided(deps.orm.em.fork(), [...waiting.keys()])) {
        for (const end of waiting.get(id) ?? []) end();
      }
    } catch (err) {
      deps.logger.warn({ err }, 'verdicts cannot be read; requests continue to wait');
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
        if (!looking) void queryWhileWaiting();
      });
    },
    close: () => closing.abort(),
  };
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
