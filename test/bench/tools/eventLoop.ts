/**
 * Preloaded into the programs of a stack as `eventLoop.ts?folder=FOLDER`, and imported so by the bench: notes in a file
 * of the folder, named by the process, how long its event loop was held up in each slice of time, and how much of that
 * was garbage being collected.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const SLICE_MILLISECONDS = 100;
const RESOLUTION_MILLISECONDS = 5;

const folder = new URL(import.meta.url).searchParams.get('folder');

if (isMainThread && folder) {
  const file = join(folder, String(process.pid));
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MILLISECONDS });
  delay.enable();
  let garbage = 0;
  const collected = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) garbage += duration;
  });
  collected.observe({ entryTypes: ['gc'] });
  let from = Date.now();
  setInterval(() => {
    const to = Date.now();
    // What is measured holds the pause between two looks, too.
    const heldUp = Math.max(0, delay.max / 1e6 - RESOLUTION_MILLISECONDS);
    appendFileSync(file, `${JSON.stringify({ from, to, heldUp, garbage })}\n`);
    delay.reset();
    [from, garbage] = [to, 0];
  }, SLICE_MILLISECONDS).unref();
}
