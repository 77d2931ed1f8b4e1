import { describe, expect, test } from '@jest/globals';
import { createDeliverySlots, type SlotAnswer } from '../../../src/webhooks/slots.ts';

describe('createDeliverySlots', () => {
  const freed = (slot: SlotAnswer): void => {
    if (!('free' in slot)) throw new Error('no slot was free');
    slot.free();
  };
  const waitOf = (slot: SlotAnswer): number => ('free' in slot ? 0 : slot.waitMilliseconds);
  /** A webhook, by name, of an account. */
  const at = (receiver: string, accountId = `of ${receiver}`) => ({ receiver, accountId });
  const one = { receiver: 1, account: 100 };

  test('gives a few at a time to each webhook, and to each its own', () => {
    const slots = createDeliverySlots({ limits: { receiver: 2, account: 100 } });

    const slow = ['slow', 'slow', 'slow', 'quick'].map((name) => 'free' in slots.take(at(name)));

    expect(slow).toEqual([true, true, false, true]);
  });

  test('an account with many webhooks gets a few for all of them, and another its own', () => {
    const slots = createDeliverySlots({ limits: { receiver: 2, account: 3 } });

    const answers = ['a', 'b', 'c', 'd', 'a'].map((name) => slots.take(at(name, 'busy')));

    expect(answers.map((slot) => 'free' in slot)).toEqual([true, true, true, false, false]);
    expect('free' in slots.take(at('e', 'other'))).toBe(true);
    if (answers[1]) freed(answers[1]);
    expect('free' in slots.take(at('d', 'busy'))).toBe(true);
  });

  test('unless told, five of a webhook and ten of an account', () => {
    const slots = createDeliverySlots();
    const given = (names: string[]) => names.filter((name) => 'free' in slots.take(at(name, 'a'))).length;

    expect(given(Array(20).fill('1'))).toBe(5);
    expect(given(Array.from({ length: 20 }, (_, i) => `${i + 2}`))).toBe(5);
  });

  test('who waits for nothing holds nothing: a webhook without a slot takes none of its account', () => {
    const slots = createDeliverySlots({ limits: { receiver: 1, account: 2 } });
    slots.take(at('slow', 'a'));
    for (let i = 0; i < 10; i += 1) slots.take(at('slow', 'a'));

    expect('free' in slots.take(at('quick', 'a'))).toBe(true);
  });

  test('a slot that is freed makes room, once', () => {
    const slots = createDeliverySlots({ limits: one });
    const first = slots.take(at('a'));
    freed(first);
    freed(first);

    expect([slots.take(at('a')), slots.take(at('a'))].map((slot) => 'free' in slot)).toEqual([true, false]);
  });

  test('who waits is told a moment of their own, spread by how long attempts last', () => {
    let now = 0;
    const slots = createDeliverySlots({ limits: one, clock: () => now });
    for (let i = 0; i < 60; i += 1) {
      const slot = slots.take(at('a'));
      now += 1_000;
      freed(slot);
    }
    slots.take(at('a'));

    const waits = Array.from({ length: 5 }, () => waitOf(slots.take(at('a'))));

    expect(waits.map((wait) => Math.round(wait / 100) / 10)).toEqual([1, 2, 3, 4, 5]);
  });

  test('nobody waits longer than five minutes, and a long queue does not come all at once', () => {
    const slots = createDeliverySlots({ limits: one, clock: () => 0 });
    slots.take(at('a'));

    const waits = Array.from({ length: 10_000 }, () => waitOf(slots.take(at('a'))));

    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
    const minutes = new Set(waits.map((wait) => Math.floor(wait / 30_000)));
    expect(minutes.size).toBeGreaterThan(8);
  });
});
