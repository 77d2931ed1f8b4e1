import { jest } from '@jest/globals';

/** Runs `work` in a process whose clock on the wall is an hour ahead; timers and the stopwatch go on as they are. */
export async function anHourAhead<T>(work: () => Promise<T>): Promise<T> {
  jest.useFakeTimers({
    now: Date.now() + 3_600_000,
    advanceTimers: true,
    doNotFake: [
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setInterval',
      'clearInterval',
      'setTimeout',
      'clearTimeout',
    ],
  });
  try {
    return await work();
  } finally {
    jest.useRealTimers();
  }
}
