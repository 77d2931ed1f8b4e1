import { Refusal } from '../errors.ts';

/** Concurrent requests of one owner per process, which has 20 database connections by default. */
const AT_ONCE = 10;
/** Waiting requests of one owner, whose bodies are still unread. */
const WAITING = 1_000;
const RETRY_AFTER_SECONDS = 1;

/** Limits the concurrent work of each owner, to leave capacity for others. */
export interface ConcurrencySlots {
  /** Runs `work` when the owner (an id) has a free slot. Throws `full()`, UNAVAILABLE by default, when too many wait. */
  hold<T>(owner: string, work: () => Promise<T>): Promise<T>;
}

/** Creates the slots of all owners in this process; an owner's work is queued first come, first served. */
export function createConcurrencySlots({
  atOnce = AT_ONCE,
  waiting = WAITING,
  full = tooManyWait,
}: {
  atOnce?: number;
  waiting?: number;
  full?: () => Refusal;
} = {}): ConcurrencySlots {
  const owners = new Map<string, { running: number; line: (() => void)[] }>();

  return {
    async hold(id, work) {
      const owner = owners.get(id) ?? { running: 0, line: [] };
      owners.set(id, owner);
      if (owner.running >= atOnce) {
        if (owner.line.length >= waiting) throw full();
        // Finished work passes its slot on, so `running` does not change.
        await new Promise<void>((start) => owner.line.push(start));
      } else owner.running += 1;
      try {
        return await work();
      } finally {
        const next = owner.line.shift();
        if (next) next();
        else owner.running -= 1;
        if (owner.running === 0) owners.delete(id);
      }
    },
  };
}

const tooManyWait = (): Refusal =>
  new Refusal('UNAVAILABLE', 'Too many of your requests are waiting; send fewer at a time.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
