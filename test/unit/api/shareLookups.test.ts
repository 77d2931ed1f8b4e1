import { expect, test } from '@jest/globals';
import { shareLookups } from '../../../src/api/authenticate.ts';

/** Lookups that end when the test ends them, in the order in which they started. */
function lookups() {
  const started: { key: string; end: (value: string) => void; fail: (error: Error) => void }[] = [];
  const find = shareLookups((key: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    started.push({ key, end: resolve, fail: reject });
    return promise;
  });
  return { started, find };
}
const nextTurn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

test('requests that arrive during a lookup share the next one', async () => {
  const { started, find } = lookups();
  const first = find('a');
  const [second, third] = [find('a'), find('a')];
  const other = find('b');
  expect(started.map(({ key }) => key)).toEqual(['a', 'b']);

  started[0]?.end('before');
  expect(await first).toBe('before');
  await nextTurn();
  expect(started.map(({ key }) => key)).toEqual(['a', 'b', 'a']);
  const fourth = find('a');
  started[2]?.end('after');
  expect(await Promise.all([second, third])).toEqual(['after', 'after']);
  await nextTurn();
  started[3]?.end('later');
  expect(await fourth).toBe('later');
  started[1]?.end('other');
  expect(await other).toBe('other');
});

test('a failure is that of the requests that shared it; the next lookup starts anyway', async () => {
  const { started, find } = lookups();
  const first = find('a');
  const second = find('a');
  started[0]?.fail(new Error('unavailable'));
  await expect(first).rejects.toThrow('unavailable');
  await nextTurn();
  started[1]?.end('available');
  expect(await second).toBe('available');
  await nextTurn();
  const third = find('a');
  started[2]?.end('again');
  expect(await third).toBe('again');
});
