import { describe, expect, test } from '@jest/globals';
import { createPlaces, type PlaceAnswer } from '../../../src/webhooks/places.ts';

describe('createPlaces', () => {
  const freed = (place: PlaceAnswer): void => {
    if (!('free' in place)) throw new Error('no place was free');
    place.free();
  };
  const waitOf = (place: PlaceAnswer): number => ('free' in place ? 0 : place.waitMilliseconds);
  /** A webhook, by name, of an account. */
  const at = (receiver: string, accountId = `of ${receiver}`) => ({ receiver, accountId });
  const one = { receiver: 1, account: 100 };

  test('gives a few at a time to each webhook, and to each its own', () => {
    const places = createPlaces({ limits: { receiver: 2, account: 100 } });

    const slow = ['slow', 'slow', 'slow', 'quick'].map((name) => 'free' in places.take(at(name)));

    expect(slow).toEqual([true, true, false, true]);
  });

  test('an account with many webhooks gets a few for all of them, and another its own', () => {
    const places = createPlaces({ limits: { receiver: 2, account: 3 } });

    const answers = ['a', 'b', 'c', 'd', 'a'].map((name) => places.take(at(name, 'busy')));

    expect(answers.map((place) => 'free' in place)).toEqual([true, true, true, false, false]);
    expect('free' in places.take(at('e', 'other'))).toBe(true);
    if (answers[1]) freed(answers[1]);
    expect('free' in places.take(at('d', 'busy'))).toBe(true);
  });

  test('unless told, five of a webhook and ten of an account', () => {
    const places = createPlaces();
    const given = (names: string[]) => names.filter((name) => 'free' in places.take(at(name, 'a'))).length;

    expect(given(Array(20).fill('1'))).toBe(5);
    expect(given(Array.from({ length: 20 }, (_, i) => `${i + 2}`))).toBe(5);
  });

  test('who waits for nothing holds nothing: a webhook without a place takes none of its account', () => {
    const places = createPlaces({ limits: { receiver: 1, account: 2 } });
    places.take(at('slow', 'a'));
    for (let i = 0; i < 10; i += 1) places.take(at('slow', 'a'));

    expect('free' in places.take(at('quick', 'a'))).toBe(true);
  });

  test('a place that is freed makes room, once', () => {
    const places = createPlaces({ limits: one });
    const first = places.take(at('a'));
    freed(first);
    freed(first);

    expect([places.take(at('a')), places.take(at('a'))].map((place) => 'free' in place)).toEqual([
      true,
      false,
    ]);
  });

  test('who waits is told a moment of their own, spread by how long attempts last', () => {
    let now = 0;
    const places = createPlaces({ limits: one, clock: () => now });
    for (let i = 0; i < 60; i += 1) {
      const place = places.take(at('a'));
      now += 1_000;
      freed(place);
    }
    places.take(at('a'));

    const waits = Array.from({ length: 5 }, () => waitOf(places.take(at('a'))));

    expect(waits.map((wait) => Math.round(wait / 100) / 10)).toEqual([1, 2, 3, 4, 5]);
  });

  test('nobody waits longer than five minutes, and a long queue does not come all at once', () => {
    const places = createPlaces({ limits: one, clock: () => 0 });
    places.take(at('a'));

    const waits = Array.from({ length: 10_000 }, () => waitOf(places.take(at('a'))));

    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
    const minutes = new Set(waits.map((wait) => Math.floor(wait / 30_000)));
    expect(minutes.size).toBeGreaterThan(8);
  });
});
