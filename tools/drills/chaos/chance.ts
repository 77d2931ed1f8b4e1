/** Chance that can be repeated. */
export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from 0 up to `limit`. */
  below(limit: number): number;
  happens(probability: number): boolean;
  oneOf<T>(list: readonly T[]): T;
  /** Chance of its own for one purpose, so that one purpose does not disturb the other. */
  fork(purpose: string): Chance;
}

/** The same seed gives the same chance (mulberry32). */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    happens: (probability) => next() < probability,
    oneOf<T>(list: readonly T[]): T {
      if (list.length === 0) throw new RangeError('nothing to choose from');
      return list[below(list.length)] as T;
    },
    fork: (purpose) =>
      createChance(Buffer.from(purpose).reduce((sum, byte) => Math.imul(sum, 31) + byte, seed)),
  };
}
