import { Refusal } from '../errors.ts';

/** Runs CPU-bound tasks. */
export interface FairQueue {
  /** Runs `task` for `owner` (an id) when there is a free slot. Throws UNAVAILABLE when too many wait. */
  run<T>(owner: string, task: () => Promise<T>, options?: { isHeavy: boolean }): Promise<T>;
}

/**
 * Creates a queue for tasks of many owners: `atOnce` run at a time, one per owner, first come, first served. Up to
 * `waiting` tasks wait, `waitingPerOwner` of each owner, so that no owner fills the queue. `heavy` limits heavy tasks in the
 * same way, to keep room for others. `retryAfterSeconds`: sent when the queue is full.
 */
export function createFairQueue(limits: {
  atOnce: number;
  waiting: number;
  waitingPerOwner: number;
  heavy?: { atOnce: number; waiting: number; waitingPerOwner: number };
  retryAfterSeconds: number;
  /** The message of the error when the queue is full. */
  full: string;
}): FairQueue {
  const {
    heavy = { atOnce: limits.atOnce, waiting: limits.waiting, waitingPerOwner: limits.waitingPerOwner },
  } = limits;
  /** The owners of running tasks, and whether the task is heavy. */
  const running = new Map<string, boolean>();
  const waiting: { owner: string; isHeavy: boolean; start: () => void }[] = [];

  const mayStart = (owner: string, isHeavy: boolean): boolean =>
    running.size < limits.atOnce &&
    !running.has(owner) &&
    !(isHeavy && [...running.values()].filter(Boolean).length >= heavy.atOnce);
  const mayWait = (owner: string, isHeavy: boolean): boolean =>
    waiting.length < limits.waiting &&
    waiting.filter((task) => task.owner === owner).length < limits.waitingPerOwner &&
    (!isHeavy || mayWaitHeavy(owner));
  const mayWaitHeavy = (owner: string): boolean => {
    const heavyTasks = waiting.filter((task) => task.isHeavy);
    return (
      heavyTasks.length < heavy.waiting &&
      heavyTasks.filter((task) => task.owner === owner).length < heavy.waitingPerOwner
    );
  };
  /** Starts all tasks that may run: the end of a heavy task can free two, the next heavy one and its owner's light one. */
  const startWaiting = (): void => {
    for (;;) {
      const next = waiting.findIndex(({ owner, isHeavy }) => mayStart(owner, isHeavy));
      const [task] = next === -1 ? [] : waiting.splice(next, 1);
      if (!task) return;
      running.set(task.owner, task.isHeavy);
      task.start();
    }
  };
  return {
    async run(owner, task, { isHeavy } = { isHeavy: false }) {
      if (!mayStart(owner, isHeavy) && !mayWait(owner, isHeavy)) {
        throw new Refusal('UNAVAILABLE', limits.full, { retryAfterSeconds: limits.retryAfterSeconds });
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
