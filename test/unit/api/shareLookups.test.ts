import { expect, test } from '@jest/globals';
import { shareLookups } from '../../../src/api/authenticate.ts';

/** Look-ups that end when they are told to, in the order in which they began. */
function lookups() {
  const began: { key: string; end: (value: string) => void; fail: (error: Error) => void }[] = [];
  const find = shareLookups((key: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    began.push({ key, end: resolve, fail: reject });
    return promise;
  });
  return { began, find };
}
const settled = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

test('who comes during a look-up gets the next one, which all share', async () => {
  const { began, find } = lookups();
  const first = find('a');
  const [second, third] = [find('a'), find('a')];
  const other = find('b');
  expect(began.map(({ key }) => key)).toEqual(['a', 'b']);

  began[0]?.end('before');
  expect(await first).toBe('before');
  await settled();
  expect(began.map(({ key }) => key)).toEqual(['a', 'b', 'a']);
  const fourth = find('a');
  began[2]?.end('after');
  expect(await Promise.all([second, third])).toEqual(['after', 'after']);
  await settled();
  began[3]?.end('later');
  expect(await fourth).toBe('later');
  began[1]?.end('another');
  expect(await other).toBe('another');
});

test('a failure is that of those who waited for it; the next look-up begins all the same', async () => {
  const { began, find } = lookups();
  const first = find('a');
  const second = find('a');
  began[0]?.fail(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await settled();
  began[1]?.end('back');
  expect(await second).toBe('back');
  await settled();
  const third = find('a');
  began[2]?.end('again');
  expect(await third).toBe('again');
});
