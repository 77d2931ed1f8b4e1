import { describe, expect, test } from '@jest/globals';
import { createFairQueue } from '../../../src/crypto/fairQueue.ts';

describe('the fair queue', () => {
  const aQueue = (more: Partial<Parameters<typeof createFairQueue>[0]> = {}) => {
    const usual = { atOnce: 2, waiting: 3, waitingPerOwner: 2, retryAfterSeconds: 3, full: 'Full.' };
    const queue = createFairQueue({ ...usual, ...more });
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    /** Hands in a piece of work of `owner`, which ends when `ends` says so. */
    const add = (owner: string, name: string, isHeavy = false) => {
      const task = async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.set(name, end));
        return name;
      };
      return queue.run(owner, task, { isHeavy });
    };
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

  test('heavy pieces of whoever run one at a time, and the others beside them', async () => {
    const { add, begun, end } = aQueue({ waiting: 9, heavy: { atOnce: 1, waiting: 3, waitingPerOwner: 2 } });
    for (const owner of ['A', 'B', 'C']) void add(owner, `${owner}1`, true);
    void add('A', 'A2');
    void add('D', 'D1');
    await end('nothing');
    expect(begun).toEqual(['A1', 'D1']);

    await end('D1');
    expect(begun).toEqual(['A1', 'D1']);
    // The next heavy one begins, and beside it what waited for its owner alone.
    await end('A1');
    expect(begun).toEqual(['A1', 'D1', 'B1', 'A2']);
    await end('A2');
    expect(begun).toHaveLength(4);
  });

  test('heavy pieces fill their part of the queue alone', async () => {
    const { add, begun, end } = aQueue({ waiting: 9, heavy: { atOnce: 1, waiting: 2, waitingPerOwner: 2 } });
    for (const owner of ['A', 'B', 'C']) void add(owner, `${owner}1`, true);
    await expect(add('D', 'D1', true)).rejects.toEqual(busy);

    void add('E', 'E1');
    void add('F', 'F1');
    await end('nothing');
    await end('E1');
    expect(begun).toEqual(['A1', 'E1', 'F1']);
  });

  test('an owner has fewer heavy pieces waiting than light ones', async () => {
    const { add } = aQueue({
      waiting: 9,
      waitingPerOwner: 4,
      heavy: { atOnce: 1, waiting: 4, waitingPerOwner: 1 },
    });
    for (const name of ['A1', 'A2']) void add('A', name, true);
    await expect(add('A', 'A3', true)).rejects.toEqual(busy);
    void add('A', 'A4');
    void add('B', 'B1', true);
    await expect(add('B', 'B2', true)).rejects.toEqual(busy);
  });

  test('work that fails gives its place back', async () => {
    const queue = createFairQueue({
      atOnce: 1,
      waiting: 0,
      waitingPerOwner: 0,
      retryAfterSeconds: 1,
      full: 'Full.',
    });
    await expect(queue.run('A', () => Promise.reject(new Error('no')))).rejects.toThrow('no');

    expect(await queue.run('A', async () => 'done')).toBe('done');
  });
});
