import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { runProcess } from '../../../src/wiring/process.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'uncaughtException', 'unhandledRejection'] as const;
const logger = pino({ level: 'silent' });

describe('a process that is told to end', () => {
  const exit = jest.spyOn(process, 'exit');
  const before = SIGNALS.map((name) => process.listeners(name as 'SIGTERM'));
  beforeEach(() => {
    jest.useFakeTimers();
    exit.mockReset().mockImplementation((() => undefined) as never);
  });
  afterEach(() => {
    jest.useRealTimers();
    for (const [i, name] of SIGNALS.entries()) {
      for (const listener of process.listeners(name as 'SIGTERM')) {
        if (!before[i]?.includes(listener)) process.off(name, listener);
      }
    }
  });

  test('closes what it opened, last first, and exits 0, told once or twice', async () => {
    const closed: string[] = [];
    await runProcess(logger, async (closers) => {
      closers.add('database', () => closed.push('database'));
      closers.add('server', async () => closed.push('server'));
    });

    process.emit('SIGTERM');
    process.emit('SIGTERM');
    await jest.advanceTimersByTimeAsync(0);

    expect(closed).toEqual(['server', 'database']);
    expect(exit.mock.calls).toEqual([[0]]);
  });

  test('is gone within 30 s whatever does not close, with exit code 1', async () => {
    await runProcess(logger, async (closers) => {
      closers.add('stuck', () => new Promise(() => undefined));
    });

    process.emit('SIGTERM');
    await jest.advanceTimersByTimeAsync(27_000);
    expect(exit).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(2_000);

    expect(exit.mock.calls).toEqual([[1]]);
  });
});
