/** The most attempts at a time, in one process. */
export interface SlotLimits {
  /** To one receiver. */
  readonly receiver: number;
  /** To all receivers of one account. */
  readonly account: number;
}

/**
 * Of the 200 slots of a worker (wiring/temporal/workers.ts) one account can occupy few, whatever its number of receivers.
 */
const LIMITS: SlotLimits = { receiver: 5, account: 10 };
/** Longest wait before asking again, in case the receiver has become quick. */
const LONGEST_WAIT_MILLISECONDS = 300_000;
const SHORTEST_WAIT_MILLISECONDS = 100;
/** Assumed duration of an attempt before the first has ended. */
const FIRST_GUESS_MILLISECONDS = 200;

/** A slot, to be freed when the attempt ends; or the wait before asking again. */
export type SlotAnswer = { readonly free: () => void } | { readonly waitMilliseconds: number };

/**
 * The slots of all receivers and accounts in one process. A receiver is a unit that may be slow, such as a
 * webhook.
 */
export interface DeliverySlots {
  take(destination: { receiver: string; accountId: string }): SlotAnswer;
}

/** A receiver, or an account with all of its receivers. */
interface Side {
  readonly name: string;
  readonly atOnce: number;
  underWay: number;
  /** Running average of how long attempts last, milliseconds. */
  averageMilliseconds: number;
  /** The time promised to the last attempt that has to wait. */
  lastPromised: number;
}

/**
 * Creates a few slots for each receiver and a few more for each account, so that a slow receiver with thousands of waiting
 * deliveries occupies few slots of the worker and delays no other receiver. An attempt without a slot gets a time to ask
 * again, later for slower receivers, to keep polling rare. `clock`: milliseconds; `chance`: 0 to 1.
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
      averageMilliseconds: FIRST_GUESS_MILLISECONDS,
      lastPromised: 0,
    };
    sides.set(name, side);
    return side;
  }

  function leave(side: Side, milliseconds: number): void {
    side.underWay -= 1;
    side.averageMilliseconds = 0.8 * side.averageMilliseconds + 0.2 * milliseconds;
    // Keeps the averages of slow receivers only.
    if (side.underWay === 0 && side.averageMilliseconds <= FIRST_GUESS_MILLISECONDS) sides.delete(side.name);
  }

  /** Returns the wait, in milliseconds, of the next attempt without a slot at `side`. */
  function waitFor(side: Side): number {
    const now = clock();
    const promised = Math.max(side.lastPromised, now) + side.averageMilliseconds / side.atOnce;
    if (promised - now > LONGEST_WAIT_MILLISECONDS) {
      return Math.round(LONGEST_WAIT_MILLISECONDS * (1 - chance() / 2));
    }
    side.lastPromised = promised;
    return Math.max(SHORTEST_WAIT_MILLISECONDS, Math.round(promised - now));
  }

  return {
    take({ receiver, accountId }) {
      const pair = [
        sideOf(`receiver ${receiver}`, limits.receiver),
        sideOf(`account ${accountId}`, limits.account),
      ];
      const full = pair.filter(({ underWay, atOnce }) => underWay >= atOnce);
      if (full.length > 0) return { waitMilliseconds: Math.max(...full.map(waitFor)) };
      const started = clock();
      for (const side of pair) side.underWay += 1;
      let freed = false;
      return {
        free() {
          if (freed) return;
          freed = true;
          for (const side of pair) leave(side, clock() - started);
        },
      };
    },
  };
}
