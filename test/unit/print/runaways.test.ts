/** Threads that run away, that fail, and that rest. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { createThreads } from '../../../src/print/threads.ts';
import { until } from '../../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'threads-'));
afterAll(() => rmSync(folder, { recursive: true }));

const script = join(folder, 'script.mjs');
writeFileSync(
  script,
  `import { parentPort, threadId } from 'node:worker_threads';
   const tasks = {
     loop: () => { for (;;); },
     hog: () => {
       const all = [];
       for (;;) {
         all.push(new Array(10_000).fill(all.length));
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
       }
     },
     fail: () => { throw new Error('no'); },
     id: () => threadId,
   };
   parentPort.on('message', (task) => parentPort.postMessage(tasks[task]()));`,
);

const threads = (idleMs = 60_000) =>
  createThreads<'loop' | 'hog' | 'fail' | 'id', number>({
    script: pathToFileURL(script),
    mostSeconds: 1,
    mostMegabytes: 64,
    idleMs,
  });

test.each([
  ['loop', 'a thread took more than 1 s for its task'],
  ['hog', 'a thread took more than 64 MB for its task'],
  ['fail', 'no'],
] as const)('a task that ends in %s ends its thread alone', async (task, words) => {
  const { run } = threads();
  const [bad, good] = await Promise.allSettled([run(task), run('id')]);
  expect(bad.status === 'rejected' && (bad.reason as Error).message).toBe(words);
  expect(good.status).toBe('fulfilled');
  expect(await run('id')).toBe(good.status === 'fulfilled' && good.value);
});

test('a thread takes one task after another, and ends when it has rested', async () => {
  const { run } = threads(100);
  const first = await run('id');
  const both = await Promise.all([run('id'), run('id')]);
  expect(both).toContain(first);
  await until('a new thread', 30, async () => {
    await sleep(200);
    return !both.includes(await run('id'));
  });
});
