import { describe, expect, test } from '@jest/globals';
import { createPlaces, type PlaceAnswer } from '../../../src/webhooks/places.ts';

describe('createPlaces', () => {
  const freed = (place: PlaceAnswer): void => {
    if (!('free' in place)) throw new Error('no place was free');
    place.free();
  };
  const waitOf = (place: PlaceAnswer): number => ('free' in place ? 0 : place.waitMilliseconds);

  test('gives a few at a time to each destination, and to each its own', () => {
    const places = createPlaces({ atOnce: 2 });

    const slow = ['slow', 'slow', 'slow', 'quick'].map((name) => 'free' in places.take(name));

    expect(slow).toEqual([true, true, false, true]);
  });

  test('a place that is freed makes room, once', () => {
    const places = createPlaces({ atOnce: 1 });
    const first = places.take('a');
    freed(first);
    freed(first);

    expect([places.take('a'), places.take('a')].map((place) => 'free' in place)).toEqual([true, false]);
  });

  test('who waits is told a moment of their own, spread by how long attempts last', () => {
    let now = 0;
    const places = createPlaces({ atOnce: 1, clock: () => now });
    for (let i = 0; i < 60; i += 1) {
      const place = places.take('a');
      now += 1_000;
      freed(place);
    }
    places.take('a');

    const waits = Array.from({ length: 5 }, () => waitOf(places.take('a')));

    expect(waits.map((wait) => Math.round(wait / 100) / 10)).toEqual([1, 2, 3, 4, 5]);
  });

  test('nobody waits longer than five minutes, and a long queue does not come all at once', () => {
    const places = createPlaces({ atOnce: 1, clock: () => 0 });
    places.take('a');

    const waits = Array.from({ length: 10_000 }, () => waitOf(places.take('a')));

    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
    const minutes = new Set(waits.map((wait) => Math.floor(wait / 30_000)));
    expect(minutes.size).toBeGreaterThan(8);
  });
});
