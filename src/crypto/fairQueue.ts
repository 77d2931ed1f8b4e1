import { Refusal } from '../errors.ts';

/** Runs tasks that take a core each. */
export interface FairQueue {
  /** Runs `task` for `owner`, an id, once there is room. Refuses when too many wait (UNAVAILABLE). */
  run<T>(owner: string, task: () => Promise<T>, options?: { isHeavy: boolean }): Promise<T>;
}

/**
 * Work of many owners: `atOnce` pieces at a time, one of an owner, first come first served otherwise. Up to `waiting`
 * pieces wait, `waitingOfOne` of an owner: nobody can fill the queue alone. `seconds`: the longest that a piece takes.
 * Of all these places heavy pieces have at most `heavy`, whoever they belong to, so that the others go on beside them; of one owner
 * `ofOne` of them wait.
 */
export function createFairQueue(limits: {
  atOnce: number;
  waiting: number;
  waitingOfOne: number;
  heavy?: { atOnce: number; waiting: number; ofOne: number };
  seconds: number;
  /** What is said to whom it refuses. */
  full: string;
}): FairQueue {
  const { heavy = { atOnce: limits.atOnce, waiting: limits.waiting, ofOne: limits.waitingOfOne } } = limits;
  /** The owners of what runs, and whether it is heavy. */
  const running = new Map<string, boolean>();
  const waiting: { owner: string; isHeavy: boolean; begin: () => void }[] = [];

  const mayBegin = (owner: string, isHeavy: boolean): boolean =>
    running.size < limits.atOnce &&
    !running.has(owner) &&
    !(isHeavy && [...running.values()].filter(Boolean).length >= heavy.atOnce);
  const mayWait = (owner: string, isHeavy: boolean): boolean =>
    waiting.length < limits.waiting &&
    waiting.filter((piece) => piece.owner === owner).length < limits.waitingOfOne &&
    (!isHeavy || mayWaitHeavy(owner));
  const mayWaitHeavy = (owner: string): boolean => {
    const pieces = waiting.filter((piece) => piece.isHeavy);
    return (
      pieces.length < heavy.waiting && pieces.filter((piece) => piece.owner === owner).length < heavy.ofOne
    );
  };
  /** Begins what may: the end of a heavy piece may let two begin, the next heavy one and a light one of its owner. */
  const beginNext = (): void => {
    for (;;) {
      const next = waiting.findIndex(({ owner, isHeavy }) => mayBegin(owner, isHeavy));
      const [piece] = next === -1 ? [] : waiting.splice(next, 1);
      if (!piece) return;
      running.set(piece.owner, piece.isHeavy);
      piece.begin();
    }
  };
  return {
    async run(owner, task, { isHeavy } = { isHeavy: false }) {
      if (!mayBegin(owner, isHeavy) && !mayWait(owner, isHeavy)) {
        throw new Refusal('UNAVAILABLE', limits.full, { retryAfterSeconds: limits.seconds });
      }
      await new Promise<void>((begin) => {
        waiting.push({ owner, isHeavy, begin });
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
