import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startTestStack } from '../support/runningStack.ts';

test('the README’s walk works word for word and ends with an accepted receipt', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const walk = /<!-- walk:[^>]*-->\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const stack = await startTestStack();
  const folder = mkdtempSync(join(tmpdir(), 'cfe-walk-'));
  try {
    symlinkSync(stack.dataDir, join(folder, '.local'));
    const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
    const said = execFileSync('bash', ['-euo', 'pipefail', '-c', walk], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 90_000,
      env: { ...process.env, PATH },
    });
    expect(said.trim().split('\n').at(-1)).toBe('101-1 ACCEPTED');
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await stack.stop();
  }
}, 180_000);
