/** How many attempts may be under way at a time, in one process. */
export interface SlotLimits {
  /** To one receiver. */
  readonly receiver: number;
  /** To all receivers of one account. */
  readonly account: number;
}

/** The worker itself has 200 (wiring/workers.ts): no account can hold them all, however many receivers it has. */
const LIMITS: SlotLimits = { receiver: 5, account: 10 };
/** Longest wait for a place: whoever waits asks again by then, in case the receiver has become quick. */
const LONGEST_WAIT_MILLISECONDS = 300_000;
const SHORTEST_WAIT_MILLISECONDS = 100;
/** How long an attempt is taken to last before any has ended. */
const FIRST_GUESS_MILLISECONDS = 200;

/** A place, to be freed when the attempt ends; or in how many milliseconds to ask again. */
export type SlotAnswer = { readonly free: () => void } | { readonly waitMilliseconds: number };

/** The places of all receivers and accounts, in one process. A receiver is what may be slow as one: a webhook, say. */
export interface DeliverySlots {
  take(destination: { receiver: string; accountId: string }): SlotAnswer;
}

/** A receiver, or an account with all of its receivers. */
interface Side {
  readonly name: string;
  readonly atOnce: number;
  underWay: number;
  /** Running average of how long attempts last, milliseconds. */
  lasts: number;
  /** The moment that the last one to wait was told. */
  lastPromised: number;
}

/**
 * A few places at each receiver, and a few more for all of an account, so that a slow receiver with thousands of waiting
 * deliveries holds a few slots of the worker and delays nobody else. Whoever gets none is told a moment of its own,
 * spread by how quick the receiver is, so that waiting costs few questions. `clock`: milliseconds; `chance`: 0 to 1.
 */
export function createDeliverySlots(
  options: { limits?: SlotLimits; clock?: () => number; chance?: () => number } = {},
): DeliverySlots {
  const { limits = LIMITS, clock = () => performance.now(), chance = Math.random } = options;
  const sides = new Map<string, Side>();

  function sideOf(name: string, atOnce: number): Side {
    const side = sides.get(name) ?? {
      name,
      atOnce,
      underWay: 0,
      lasts: FIRST_GUESS_MILLISECONDS,
      lastPromised: 0,
    };
    sides.set(name, side);
    return side;
  }

  function leave(side: Side, lasted: number): void {
    side.underWay -= 1;
    side.lasts = 0.8 * side.lasts + 0.2 * lasted;
    // A quick receiver leaves nothing worth remembering.
    if (side.underWay === 0 && side.lasts <= FIRST_GUESS_MILLISECONDS) sides.delete(side.name);
  }

  /** In how many milliseconds the next one to wait for a place at `side` is to ask again. */
  function waitFor(side: Side): number {
    const now = clock();
    const promised = Math.max(side.lastPromised, now) + side.lasts / side.atOnce;
    if (promised - now > LONGEST_WAIT_MILLISECONDS) {
      return Math.round(LONGEST_WAIT_MILLISECONDS * (1 - chance() / 2));
    }
    side.lastPromised = promised;
    return Math.max(SHORTEST_WAIT_MILLISECONDS, Math.round(promised - now));
  }

  return {
    take({ receiver, accountId }) {
      const both = [
        sideOf(`receiver ${receiver}`, limits.receiver),
        sideOf(`account ${accountId}`, limits.account),
      ];
      const full = both.filter(({ underWay, atOnce }) => underWay >= atOnce);
      if (full.length > 0) return { waitMilliseconds: Math.max(...full.map(waitFor)) };
      const started = clock();
      for (const side of both) side.underWay += 1;
      let freed = false;
      return {
        free() {
          if (freed) return;
          freed = true;
          for (const side of both) leave(side, clock() - started);
        },
      };
    },
  };
}
