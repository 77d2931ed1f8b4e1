import { randomInt } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { runChaos } from '../../../tools/drills/chaos/run.ts';
import { runToEnd } from '../../support/processes/processes.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

test('60 CFEs while everything is killed and a fifth of the answers is lost: all is there exactly once', async () => {
  const seed = randomInt(1_000_000);

  expect({ seed, wrong: await runChaos({ cfes: 60, seed, say }) }).toEqual({ seed, wrong: [] });
});

test.each([
  ['--cfes', '0', '--cfes holds "0"; it must be a whole number from 1 to 100000.'],
  ['--seed', 'x', '--seed holds "x"; it must be a whole number from 0 to 4294967295.'],
  ['--cfe', '5', "Unknown option '--cfe'"],
])('%s %s is refused with the usage', async (name, value, message) => {
  const { code, stderr } = await runToEnd(['tools/drills/chaos.ts', name, value]);

  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).toContain('usage: npm run test:chaos');
});
