/** How many attempts one destination may have under way at a time, in one process. */
const AT_ONCE = 5;
/** Longest wait for a place: whoever waits asks again by then, in case the receiver has become quick. */
const LONGEST_WAIT_MILLISECONDS = 300_000;
const SHORTEST_WAIT_MILLISECONDS = 100;
/** How long an attempt is taken to last before any has ended. */
const FIRST_GUESS_MILLISECONDS = 200;

/** A place, to be freed when the attempt ends; or in how many milliseconds to ask again. */
export type PlaceAnswer = { readonly free: () => void } | { readonly waitMilliseconds: number };

/** The places of all destinations, in one process. */
export interface Places {
  take(destination: string): PlaceAnswer;
}

interface Destination {
  underWay: number;
  /** Running average of how long attempts last, milliseconds. */
  lasts: number;
  /** The moment that the last one to wait was told. */
  lastPromised: number;
}

/**
 * A few places at each destination, so that a slow receiver with thousands of waiting deliveries holds a few slots of
 * the worker and delays nobody else. Whoever gets none is told a moment of its own, spread by how quick the receiver
 * is, so that waiting costs few questions. `clock`: milliseconds; `chance`: from 0 to 1.
 */
export function createPlaces(
  options: { atOnce?: number; clock?: () => number; chance?: () => number } = {},
): Places {
  const { atOnce = AT_ONCE, clock = () => performance.now(), chance = Math.random } = options;
  const destinations = new Map<string, Destination>();

  function occupy(name: string, destination: Destination): PlaceAnswer {
    const started = clock();
    let freed = false;
    destination.underWay += 1;
    return {
      free() {
        if (freed) return;
        freed = true;
        destination.underWay -= 1;
        destination.lasts = 0.8 * destination.lasts + 0.2 * (clock() - started);
        // A quick receiver leaves nothing worth remembering.
        const isQuick = destination.lasts <= FIRST_GUESS_MILLISECONDS;
        if (destination.underWay === 0 && isQuick) destinations.delete(name);
      },
    };
  }

  return {
    take(name) {
      const destination = destinations.get(name) ?? {
        underWay: 0,
        lasts: FIRST_GUESS_MILLISECONDS,
        lastPromised: 0,
      };
      destinations.set(name, destination);
      if (destination.underWay < atOnce) return occupy(name, destination);
      const now = clock();
      const promised = Math.max(destination.lastPromised, now) + destination.lasts / atOnce;
      if (promised - now > LONGEST_WAIT_MILLISECONDS) {
        return { waitMilliseconds: Math.round(LONGEST_WAIT_MILLISECONDS * (1 - chance() / 2)) };
      }
      destination.lastPromised = promised;
      return { waitMilliseconds: Math.max(SHORTEST_WAIT_MILLISECONDS, Math.round(promised - now)) };
    },
  };
}
