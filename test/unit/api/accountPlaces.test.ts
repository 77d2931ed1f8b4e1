import { describe, expect, test } from '@jest/globals';
import { Refusal } from '../../../src/errors.ts';
import { createConcurrencySlots } from '../../../src/http/concurrencySlots.ts';

/** Work that begins when it is let in, and ends when told. */
function piece() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const state = { begun: false };
  return {
    state,
    end,
    work: async () => {
      state.begun = true;
      await ended;
    },
  };
}
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('places', () => {
  test('an owner has a few at a time, in turn; another has its own', async () => {
    const places = createConcurrencySlots({ atOnce: 2, waiting: 10 });
    const [a, b, c, d] = [piece(), piece(), piece(), piece()];
    const other = piece();
    const all = [a, b, c, d].map(({ work }) => places.hold('one', work));
    const ofOther = places.hold('other', other.work);
    await settle();
    expect([a, b, c, d, other].map(({ state }) => state.begun)).toEqual([true, true, false, false, true]);

    b.end();
    await settle();
    expect([c, d].map(({ state }) => state.begun)).toEqual([true, false]);

    for (const { end } of [a, c, d, other]) end();
    await Promise.all([...all, ofOther]);
  });

  test('beyond those that may wait, one is refused, and the others go on', async () => {
    const places = createConcurrencySlots({ atOnce: 1, waiting: 1 });
    const [first, second] = [piece(), piece()];
    const both = [places.hold('one', first.work), places.hold('one', second.work)];

    const refused = await places.hold('one', async () => undefined).catch((error: unknown) => error);

    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 });
    first.end();
    second.end();
    await Promise.all(both);
    await expect(places.hold('one', async () => 'again')).resolves.toBe('again');
  });

  test('work that fails gives its place back', async () => {
    const places = createConcurrencySlots({ atOnce: 1, waiting: 1 });
    const fail = () => places.hold('one', () => Promise.reject(new Error('no')));
    await expect(fail()).rejects.toThrow('no');
    await expect(fail()).rejects.toThrow('no');
  });
});
