import { describe, expect, test } from '@jest/globals';
import { createFairQueue } from '../../../src/crypto/fairQueue.ts';

describe('the fair queue', () => {
  const aQueue = () => {
    const queue = createFairQueue({ atOnce: 2, waiting: 3, waitingOfOne: 2, seconds: 3, full: 'Full.' });
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    /** Hands in a piece of work of `owner`, which ends when `ends` says so. */
    const add = (owner: string, name: string) =>
      queue.run(owner, async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.set(name, end));
        return name;
      });
    const end = async (name: string) => {
      ends.get(name)?.();
      await new Promise(setImmediate);
    };
    return { add, begun, end };
  };
  const busy = expect.objectContaining({ code: 'UNAVAILABLE', retryAfterSeconds: 3 });

  test('an owner has one piece done at a time, and another overtakes what waits for that', async () => {
    const { add, begun, end } = aQueue();
    const pieces = [add('A', 'A1'), add('A', 'A2'), add('A', 'A3'), add('B', 'B1')];
    await new Promise(setImmediate);
    expect(begun).toEqual(['A1', 'B1']);

    await end('A1');
    expect(begun).toEqual(['A1', 'B1', 'A2']);
    await end('B1');
    expect(begun).toEqual(['A1', 'B1', 'A2']);
    await end('A2');
    await end('A3');

    expect(await Promise.all(pieces)).toEqual(['A1', 'A2', 'A3', 'B1']);
  });

  test('no owner fills the queue, and a full one refuses', async () => {
    const { add, begun } = aQueue();
    for (const name of ['A1', 'A2', 'A3']) void add('A', name);
    await expect(add('A', 'A4')).rejects.toEqual(busy);

    void add('B', 'B1');
    void add('C', 'C1');
    await expect(add('D', 'D1')).rejects.toEqual(busy);
    expect(begun).toEqual(['A1', 'B1']);
  });

  test('work that fails gives its place back', async () => {
    const queue = createFairQueue({ atOnce: 1, waiting: 0, waitingOfOne: 0, seconds: 1, full: 'Full.' });
    await expect(queue.run('A', () => Promise.reject(new Error('no')))).rejects.toThrow('no');

    expect(await queue.run('A', async () => 'done')).toBe('done');
  });
});
