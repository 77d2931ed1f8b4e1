import { Refusal } from '../errors.ts';

/** Runs tasks that take a core each. */
export interface FairQueue {
  /** Runs `task` for `owner`, an id, once there is room. Refuses when too many wait (UNAVAILABLE). */
  run<T>(owner: string, task: () => Promise<T>): Promise<T>;
}

/**
 * Work of many owners: `atOnce` pieces at a time, one of an owner, first come first served otherwise. Up to `waiting`
 * pieces wait, `waitingOfOne` of an owner: nobody can fill the queue alone. `seconds`: the longest that a piece takes.
 */
export function createFairQueue(limits: {
  atOnce: number;
  waiting: number;
  waitingOfOne: number;
  seconds: number;
  /** What is said to whom it refuses. */
  full: string;
}): FairQueue {
  const running = new Set<string>();
  const waiting: { owner: string; begin: () => void }[] = [];

  const mayBegin = (owner: string): boolean => running.size < limits.atOnce && !running.has(owner);
  const beginNext = (): void => {
    const next = waiting.findIndex(({ owner }) => mayBegin(owner));
    const [piece] = next === -1 ? [] : waiting.splice(next, 1);
    if (!piece) return;
    running.add(piece.owner);
    piece.begin();
  };
  return {
    async run(owner, task) {
      const own = waiting.filter((piece) => piece.owner === owner).length;
      if (!mayBegin(owner) && (waiting.length >= limits.waiting || own >= limits.waitingOfOne)) {
        throw new Refusal('UNAVAILABLE', limits.full, { retryAfterSeconds: limits.seconds });
      }
      await new Promise<void>((begin) => {
        waiting.push({ owner, begin });
        beginNext();
      });
      try {
        return await task();
      } finally {
        running.delete(owner);
        beginNext();
      }
    },
  };
}
