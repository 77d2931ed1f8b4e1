import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ConfigurationError, describeVariables, readConfig } from '../../src/config.ts';

const problemsOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  throw new Error('the configuration was taken');
};

describe('the configuration', () => {
  test('takes the default of what is not set, and of what is set to nothing', () => {
    expect(readConfig(['CFE_API_PORT', 'CFE_HOST'], { CFE_HOST: '' })).toEqual({
      CFE_API_PORT: 3000,
      CFE_HOST: '127.0.0.1',
    });
  });

  test('names the variable, what it holds and what it may hold', () => {
    expect(problemsOf(() => readConfig(['CFE_API_PORT'], { CFE_API_PORT: 'http' }))).toBe(
      'CFE_API_PORT holds "http"; it must be a port number, 0 to 65535 (0: any free port)',
    );
  });

  test('tells all that is wrong at once, what is missing too', () => {
    expect(
      problemsOf(() => readConfig(['CFE_PATIENCE', 'TEMPORAL_ADDRESS'], { CFE_PATIENCE: 'soon' })).split(
        '\n',
      ),
    ).toEqual([
      'CFE_PATIENCE holds "soon"; it must be a number with a unit s, m, h or d, such as 72h',
      'TEMPORAL_ADDRESS is not set; it must be host:port (the Temporal server; the local stack starts one of its own when this is not set)',
    ]);
  });

  test('never shows a secret', () => {
    const message = problemsOf(() => readConfig(['CFE_PEPPER'], { CFE_PEPPER: 'hunter2-hunter2' }));
    expect(message).toContain('CFE_PEPPER holds [a secret]');
    expect(message).not.toContain('hunter2');
  });

  test('reads keys with their ids, the one that seals first', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const { CFE_KEY_ENCRYPTION_KEYS: keys } = readConfig(['CFE_KEY_ENCRYPTION_KEYS'], {
      CFE_KEY_ENCRYPTION_KEYS: `new:${key},old:${key}`,
    });
    expect(keys.map(({ id }) => id)).toEqual(['new', 'old']);
    expect(keys[0]?.key).toHaveLength(32);
  });

  test.each([
    ['CFE_PATIENCE', '72h', 259_200],
    ['CFE_PATIENCE', '30s', 30],
    ['CFE_POLL_LONGEST_SECONDS', '2.5', 2.5],
  ] as const)('reads %s=%s as %s', (name, text, value) => {
    expect(readConfig([name], { [name]: text })[name]).toBe(value);
  });

  test('cannot be changed afterwards', () => {
    expect(Object.isFrozen(readConfig(['CFE_HOST'], {}))).toBe(true);
  });

  test('.env.example is in step (npm run env-example writes it)', () => {
    expect(readFileSync(join(import.meta.dirname, '../../.env.example'), 'utf8')).toBe(describeVariables());
  });
});
