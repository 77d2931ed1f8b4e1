import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runToEnd } from '../support/processes/processes.ts';
import { sharedStack } from '../support/stacks.ts';
import { useStack } from '../support/useStack.ts';

const stack = useStack(sharedStack);

test('the README’s walk works word for word and ends with an accepted receipt', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const walk = /<!-- walk:[^>]*-->\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'cfe-walk-'));
  try {
    symlinkSync(stack.dataDir, join(folder, '.local'));
    const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
    const { code, stdout } = await runToEnd(['-euo', 'pipefail', '-c', walk], {
      command: 'bash',
      cwd: folder,
      env: { ...process.env, PATH },
    });
    expect([code, stdout.trim().split('\n').at(-1)]).toEqual([0, '101-1 ACCEPTED']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
