import { Refusal } from '../errors.ts';

/** Requests of one owner that are handled at a time by one process, which has 20 connections to the database unless told. */
const AT_ONCE = 10;
/** Requests of one owner that wait for that, their bodies unread. */
const WAITING = 1_000;
const RETRY_AFTER_SECONDS = 1;

/** Lets each owner have a few pieces of work done at a time, so that the rest of the process is there for the others. */
export interface ConcurrencySlots {
  /** Runs `work` once the owner, an id, has a place for it. Throws `full()` when too many of it wait (UNAVAILABLE unless told). */
  hold<T>(owner: string, work: () => Promise<T>): Promise<T>;
}

/** The places of all owners in this process: those of one come in turn, first come first served. With `waiting` 0 nobody waits. */
export function createConcurrencySlots({
  atOnce = AT_ONCE,
  waiting = WAITING,
  full = tooManyWait,
}: {
  atOnce?: number;
  waiting?: number;
  full?: () => Refusal;
} = {}): ConcurrencySlots {
  const owners = new Map<string, { held: number; line: (() => void)[] }>();

  return {
    async hold(id, work) {
      const owner = owners.get(id) ?? { held: 0, line: [] };
      owners.set(id, owner);
      if (owner.held >= atOnce) {
        if (owner.line.length >= waiting) throw full();
        // Whoever ends hands its place over, so `held` stays as it is.
        await new Promise<void>((begin) => owner.line.push(begin));
      } else owner.held += 1;
      try {
        return await work();
      } finally {
        const next = owner.line.shift();
        if (next) next();
        else owner.held -= 1;
        if (owner.held === 0) owners.delete(id);
      }
    },
  };
}

const tooManyWait = (): Refusal =>
  new Refusal('UNAVAILABLE', 'Too many of your requests are waiting; send fewer at a time.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
