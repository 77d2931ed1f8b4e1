import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { withoutOwn } from '../support/runningStack.ts';

test('database and Temporal lost at once: restored from base backup and WAL, the service goes on (npm run backup:drill)', () => {
  const said = execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'tools/backupDrill.ts'],
    {
      cwd: join(import.meta.dirname, '../..'),
      encoding: 'utf8',
      timeout: 170_000,
      env: withoutOwn(process.env),
    },
  );

  expect(said.trim().split('\n').at(-1)).toContain('Shown: nothing that was archived is lost');
}, 180_000);
