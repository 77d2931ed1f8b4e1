/** How many attempts one destination may have under way at a time, in one process. */
const AT_ONCE = 5;
/** Longest wait for a turn: whoever waits looks again by then, in case the receiver has become quick. */
const LONGEST_WAIT_MILLISECONDS = 300_000;
const SHORTEST_WAIT_MILLISECONDS = 100;
/** What an attempt is taken to last before one has ended. */
const FIRST_GUESS_MILLISECONDS = 200;

/** Either a turn, to be ended, or in how many milliseconds to ask again. */
export type Turn = { readonly end: () => void } | { readonly waitMilliseconds: number };

export interface Turns {
  take(destination: string): Turn;
}

interface Queue {
  underWay: number;
  /** Running average of how long attempts last. */
  lasts: number;
  /** The moment for which the last who waits was given a place. */
  nextPlace: number;
}

/**
 * Turns at destinations: a few at a time each, so that a slow receiver with thousands of waiting deliveries holds a
 * few places of the worker and delays nobody else. Who gets none is told a moment of their own, spread by how quick
 * the receiver is, so that waiting costs few questions. `clock`: milliseconds; `chance`: from 0 to 1.
 */
export function createTurns(
  options: { atOnce?: number; clock?: () => number; chance?: () => number } = {},
): Turns {
  const { atOnce = AT_ONCE, clock = () => performance.now(), chance = Math.random } = options;
  const queues = new Map<string, Queue>();

  function start(destination: string, queue: Queue): Turn {
    const started = clock();
    let ended = false;
    queue.underWay += 1;
    return {
      end() {
        if (ended) return;
        ended = true;
        queue.underWay -= 1;
        queue.lasts = 0.8 * queue.lasts + 0.2 * (clock() - started);
        // Of a quick receiver there is nothing worth remembering.
        if (queue.underWay === 0 && queue.lasts <= FIRST_GUESS_MILLISECONDS) queues.delete(destination);
      },
    };
  }

  return {
    take(destination) {
      const queue = queues.get(destination) ?? { underWay: 0, lasts: FIRST_GUESS_MILLISECONDS, nextPlace: 0 };
      queues.set(destination, queue);
      if (queue.underWay < atOnce) return start(destination, queue);
      const now = clock();
      const place = Math.max(queue.nextPlace, now) + queue.lasts / atOnce;
      if (place - now > LONGEST_WAIT_MILLISECONDS) {
        return { waitMilliseconds: Math.round(LONGEST_WAIT_MILLISECONDS * (1 - chance() / 2)) };
      }
      queue.nextPlace = place;
      return { waitMilliseconds: Math.max(SHORTEST_WAIT_MILLISECONDS, Math.round(place - now)) };
    },
  };
}
