import { describe, expect, test } from '@jest/globals';
import { createTurns, type Turn } from '../../../src/webhooks/turns.ts';

describe('createTurns', () => {
  const ended = (turn: Turn): void => {
    if (!('end' in turn)) throw new Error('no turn was given');
    turn.end();
  };
  const waitOf = (turn: Turn): number => ('end' in turn ? 0 : turn.waitMilliseconds);

  test('gives a few at a time to each destination, and to each its own', () => {
    const turns = createTurns({ atOnce: 2 });

    const slow = ['slow', 'slow', 'slow', 'quick'].map((name) => 'end' in turns.take(name));

    expect(slow).toEqual([true, true, false, true]);
  });

  test('a turn that ends makes room, once', () => {
    const turns = createTurns({ atOnce: 1 });
    const first = turns.take('a');
    ended(first);
    ended(first);

    expect([turns.take('a'), turns.take('a')].map((turn) => 'end' in turn)).toEqual([true, false]);
  });

  test('who waits is told a moment of their own, spread by how long attempts last', () => {
    let now = 0;
    const turns = createTurns({ atOnce: 1, clock: () => now });
    for (let i = 0; i < 60; i += 1) {
      const turn = turns.take('a');
      now += 1_000;
      ended(turn);
    }
    turns.take('a');

    const waits = Array.from({ length: 5 }, () => waitOf(turns.take('a')));

    expect(waits.map((wait) => Math.round(wait / 100) / 10)).toEqual([1, 2, 3, 4, 5]);
  });

  test('nobody waits longer than five minutes, and a long queue does not come all at once', () => {
    const turns = createTurns({ atOnce: 1, clock: () => 0 });
    turns.take('a');

    const waits = Array.from({ length: 10_000 }, () => waitOf(turns.take('a')));

    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
    const minutes = new Set(waits.map((wait) => Math.floor(wait / 30_000)));
    expect(minutes.size).toBeGreaterThan(8);
  });
});
