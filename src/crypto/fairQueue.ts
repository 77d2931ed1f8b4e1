import { Refusal } from '../errors.ts';

/** Runs CPU-bound tasks. */
export interface FairQueue {
  /** Runs `task` for `owner` (an id) when there is a free slot. Throws UNAVAILABLE when too many wait. */
  run<T>(owner: string, task: () => Promise<T>, options?: { isHeavy: boolean }): Promise<T>;
}

/**
 * Creates a queue for tasks of many owners: `atOnce` run at a time, one per owner, first come, first served. Up to
 * `waiting` tasks wait, `waitingOfOne` per owner, so that no owner fills the queue. `heavy` limits the slots of heavy tasks
 * to keep room for others; `ofOne` heavy tasks wait per owner. `seconds`: the longest duration of a task.
 */
export function createFairQueue(limits: {
  atOnce: number;
  waiting: number;
  waitingOfOne: number;
  heavy?: { atOnce: number; waiting: number; ofOne: number };
  seconds: number;
  /** The message of the error when the queue is full. */
  full: string;
}): FairQueue {
  const { heavy = { atOnce: limits.atOnce, waiting: limits.waiting, ofOne: limits.waitingOfOne } } = limits;
  /** The owners of running tasks, and whether the task is heavy. */
  const running = new Map<string, boolean>();
  const waiting: { owner: string; isHeavy: boolean; start: () => void }[] = [];

  const mayStart = (owner: string, isHeavy: boolean): boolean =>
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
  /** Starts all tasks that may run: the end of a heavy task can free two, the next heavy one and its owner's light one. */
  const startWaiting = (): void => {
    for (;;) {
      const next = waiting.findIndex(({ owner, isHeavy }) => mayStart(owner, isHeavy));
      const [piece] = next === -1 ? [] : waiting.splice(next, 1);
      if (!piece) return;
      running.set(piece.owner, piece.isHeavy);
      piece.start();
    }
  };
  return {
    async run(owner, task, { isHeavy } = { isHeavy: false }) {
      if (!mayStart(owner, isHeavy) && !mayWait(owner, isHeavy)) {
        throw new Refusal('UNAVAILABLE', limits.full, { retryAfterSeconds: limits.seconds });
      }
      await new Promise<void>((start) => {
        waiting.push({ owner, isHeavy, start });
        startWaiting();
      });
      try {
        return await task();
      } finally {
        running.delete(owner);
        startWaiting();
      }
    },
  };
}
