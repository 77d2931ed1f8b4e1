import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ConfigurationError } from '../../src/config.ts';
import { armFailpoints, failpoint } from '../../src/failpoints.ts';

const CHECKOUT = join(import.meta.dirname, '../..');

/** A program of ours, started with these variables and nothing else. */
function start(program: string, variables: Record<string, string>): { status: number | null; said: string } {
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      `${program}.ts`,
      ...(program.endsWith('cli') ? ['enterprise', 'list'] : []),
    ],
    { cwd: CHECKOUT, encoding: 'utf8', env: { PATH: process.env['PATH'], ...variables } },
  );
  return { status, said: stderr };
}

describe('failpoints', () => {
  test.each([
    ...['api', 'worker', 'cli'].map((name) => `src/main/${name}`),
    ...['simulator', 'stack', 'demo'].map((name) => `local/main/${name}`),
  ])('outside test mode %s does not start with them, and says why', (program) => {
    const { status, said } = start(program, { CFE_FAILPOINTS: 'ask.answered' });

    expect(status).toBe(1);
    expect(said).toContain('CFE_FAILPOINTS is set: failpoints kill the process and are for tests only');
  });

  test('CFE_TEST_MODE false is no test mode', () => {
    const source = { CFE_FAILPOINTS: 'ask.answered', CFE_TEST_MODE: 'false' };
    expect(() => armFailpoints(source)).toThrow(ConfigurationError);
  });

  test('a name that is no point is refused: it would never be passed', () => {
    const source = { CFE_FAILPOINTS: 'ask.answered,await.nobody', CFE_TEST_MODE: 'true' };
    expect(() => armFailpoints(source)).toThrow('CFE_FAILPOINTS names await.nobody; no such point exists.');
  });

  test('without any, the points are passed, in test mode too', () => {
    armFailpoints({ CFE_TEST_MODE: 'true' });
    armFailpoints({});

    failpoint('ask.answered');
  });
});
