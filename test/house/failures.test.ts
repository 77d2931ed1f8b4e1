import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const TEST = join(import.meta.dirname, '..');
const page = readFileSync(join(TEST, '../docs/failures.md'), 'utf8');

/** Each test that the page names: its file without the ending, and a piece of its name. */
const NAMED = [
  ...page.matchAll(/`((?:house|unit|integration|workflows|e2e|long)\/[\w/]+)` \*([^*]+)\*/g),
].map(([, file = '', name = '']) => [file, name] as const);
const rows = page.split('\n').filter((line) => line.startsWith('- **'));

describe('docs/failures.md', () => {
  test('every item names the test that shows it', () => {
    const silent = rows.filter((row) => !NAMED.some(([file, name]) => row.includes(`\`${file}\` *${name}*`)));

    expect(rows.length).toBeGreaterThan(20);
    expect(silent).toEqual([]);
  });

  test.each(NAMED)('%s has the test "%s"', (file, name) => {
    const path = join(TEST, `${file}.test.ts`);

    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path, 'utf8')).toContain(name);
  });
});
