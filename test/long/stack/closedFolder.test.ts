import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { processesOf, startRun, untilNothingIsLeft, untilReady } from '../../support/stack/stackRun.ts';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const asRoot = process.getuid?.() === 0;

describe('as root, in a checkout under a folder that is closed to others', () => {
  if (!asRoot) test.todo('only root meets this: run as root to test it');

  (asRoot ? test : test.skip)(
    'PostgreSQL runs from /var/lib/cfe, linked from the data folder, and finds its data again',
    async () => {
      const closed = mkdtempSync(join(tmpdir(), 'cfe-closed-'));
      const checkout = join(closed, 'checkout');
      const dataDir = join(checkout, '.local');
      mkdirSync(checkout);
      for (const name of [
        'src',
        'local',
        'tools',
        'test/support/stack',
        'package.json',
        'package-lock.json',
      ]) {
        cpSync(join(PROJECT, name), join(checkout, name), { recursive: true });
      }
      copyByLinks(join(PROJECT, 'node_modules'), join(checkout, 'node_modules'));
      let home: string | undefined;
      try {
        for (const time of ['first', 'second']) {
          const run = startRun({ dataDir, checkout, node: join(checkout, 'node_modules/.bin/node') });
          await untilReady(run, dataDir);
          home = dirname(readlinkSync(join(dataDir, 'postgres')));

          expect(home).toMatch(/^\/var\/lib\/cfe\/[0-9a-f]{16}$/);
          expect(lstatSync(join(dataDir, 'postgres-programs')).isSymbolicLink()).toBe(true);
          expect(run.output().includes('cannot reach')).toBe(time === 'first');
          const processes = processesOf(run, dataDir);
          run.child.kill('SIGTERM');
          await untilNothingIsLeft(processes, closed);
        }
      } finally {
        rmSync(closed, { recursive: true, force: true });
        if (home?.startsWith('/var/lib/cfe/')) rmSync(home, { recursive: true, force: true });
      }
    },
  );
});

/** A copy that takes no space where both lie on one disk. */
function copyByLinks(from: string, to: string): void {
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'ignore' });
  } catch {
    rmSync(to, { recursive: true, force: true });
    execFileSync('cp', ['-a', from, to]);
  }
  // What is written to later must not be shared.
  for (const name of ['.setup-stamp', '.cache']) rmSync(join(to, name), { recursive: true, force: true });
}
