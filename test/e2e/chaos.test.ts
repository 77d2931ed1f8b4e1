import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runChaos } from '../chaos/run.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

test('60 CFEs while everything is killed and a fifth of the answers is lost: all is there exactly once', async () => {
  const seed = randomInt(1_000_000);

  expect({ seed, wrong: await runChaos({ cfes: 60, seed, say }) }).toEqual({ seed, wrong: [] });
}, 600_000);

test.each([
  ['--cfes', '0', '--cfes holds "0"; it must be a whole number from 1 to 100000.'],
  ['--seed', 'x', '--seed holds "x"; it must be a whole number from 0 to 4294967295.'],
  ['--cfe', '5', "Unknown option '--cfe'"],
])('%s %s is refused with the usage', (name, value, message) => {
  const checkout = join(import.meta.dirname, '../..');
  const { status, stderr } = spawnSync(process.execPath, ['tools/chaos.ts', name, value], {
    cwd: checkout,
    encoding: 'utf8',
  });

  expect(status).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).toContain('usage: npm run test:chaos');
});
