import { expect, test } from '@jest/globals';
import { runToEnd } from '../support/processes/processes.ts';

test('database and Temporal lost at once: restored from base backup and WAL, the service goes on (npm run backup:drill)', async () => {
  const { code, stdout, stderr } = await runToEnd(['tools/drills/backup.ts']);

  if (code !== 0) throw new Error(`the drill ended with ${code}: ${stdout}${stderr}`);
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n').at(-1)).toContain('Shown: nothing that was archived is lost');
});
