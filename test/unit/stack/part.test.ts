import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { endInOrder, ORDINARY_END } from '../../../local/stack/processes/ending.ts';
import { keepRunning, type Part } from '../../../local/stack/processes/part.ts';
import { isRunning, markOf, signal } from '../../../local/stack/processes/processes.ts';
import { until } from '../../support/until.ts';

let folder: string;
let said: string[];
let part: Part | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cfe-part-'));
  said = [];
});
afterEach(async () => {
  part?.halt();
  await endInOrder([part?.running() ?? []].flat());
  rmSync(folder, { recursive: true, force: true });
});

/** A part that is a shell command. */
function aPart(script: string, answers: () => Promise<boolean> = async () => true): Part {
  part = keepRunning(
    {
      name: 'part',
      command: {
        program: '/bin/sh',
        args: ['-c', script],
        env: { PATH: '/usr/bin:/bin' },
        cwd: '/',
        logFile: join(folder, 'logs/part.log'),
      },
      plan: ORDINARY_END,
      order: 0,
      answers,
    },
    { say: (line) => said.push(line), onProcess: () => undefined },
  );
  return part;
}

describe('a part under supervision', () => {
  test('is started again when it dies, and that is said', async () => {
    const running = aPart('exec sleep 60');
    await running.ready;
    const first = running.running()?.mark;

    signal(first?.pid ?? 0, 'SIGKILL');

    const other = (): boolean =>
      running.running() !== undefined && running.running()?.mark.pid !== first?.pid;
    await until('the other process', 5, async () => other() && said.length === 2);
    expect(said).toEqual([
      'part ended by SIGKILL; restarting it.',
      expect.stringMatching(/^part is back after \d\.\d s \(process \d+\)\.$/),
    ]);
  });

  test('that never comes up is given up, with the last lines of its log', async () => {
    const failing = aPart(
      `echo once >> ${join(folder, 'starts')}; echo "the disk is on fire"; exit 3`,
      async () => false,
    );

    await expect(failing.ready).rejects.toThrow(
      /part ended with exit code 3\. The last lines of .*part\.log:\n[^]*the disk is on fire/,
    );
    expect(readFileSync(join(folder, 'starts'), 'utf8').trim().split('\n')).toHaveLength(4);
  });

  test('whose program is not there is given up too', async () => {
    part = keepRunning(
      {
        name: 'part',
        command: {
          program: '/nowhere/program',
          args: [],
          env: {},
          cwd: '/',
          logFile: join(folder, 'part.log'),
        },
        plan: ORDINARY_END,
        order: 0,
        answers: async () => false,
      },
      { say: (line) => said.push(line), onProcess: () => undefined },
    );

    await expect(part.ready).rejects.toThrow(/part could not be started \(ENOENT\)/);
  });

  test('waits longer from death to death', async () => {
    const dying = aPart('sleep 0.02', async () => true);
    await dying.ready;

    await until('a longer pause', 10, async () => said.some((line) => line.includes('restarting it in 1 s')));
  });

  test('that is halted is not started again', async () => {
    const running = aPart('exec sleep 60');
    await running.ready;
    const watched = running.running();

    running.halt();
    await endInOrder(watched ? [watched] : []);

    await until('its end', 2, async () => running.running() === undefined);
    expect(said).toEqual([]);
  });
});

describe('ending processes', () => {
  test('one that ignores SIGTERM is killed in time, with what it started', async () => {
    const stubborn = aPart(
      `trap '' TERM; sh -c "trap '' TERM; echo \\$\\$ > ${join(folder, 'child')}; while :; do sleep 0.1; done"`,
    );
    await stubborn.ready;
    const child = (): number => {
      try {
        return Number(readFileSync(join(folder, 'child'), 'utf8'));
      } catch {
        return 0;
      }
    };
    await until('what it starts', 5, async () => child() > 0);
    const watched = stubborn.running();
    stubborn.halt();

    await endInOrder(watched ? [{ ...watched, plan: [{ signal: 'SIGTERM', graceMs: 300 }] }] : []);

    expect(watched && isRunning(watched.mark)).toBe(false);
    // Its number may stand for a moment longer, until its exit status is read.
    await until('the end of what it started', 2, async () => markOf(child()) === undefined);
  });
});
