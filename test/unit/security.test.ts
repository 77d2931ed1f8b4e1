import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const TEST = join(import.meta.dirname, '..');
const page = readFileSync(join(TEST, '../docs/security.md'), 'utf8');

/** The rows of every table whose last column names what shows that it is so. */
const rows = page
  .split('\n## ')
  .flatMap((section) => (section.includes('| Shown by |') ? section.split('\n') : []))
  .filter((line) => line.startsWith('| ') && !line.endsWith('| Shown by |'));
const NAMED = /`((?:unit|integration|workflows|replay|e2e|long)\/[\w/]+)`/g;

describe('docs/security.md', () => {
  test.each(rows)('names tests that are there: %s', (row) => {
    const shown = row.split('|').at(-2) ?? '';
    const files = [...shown.matchAll(NAMED)].map(([, file = '']) => file);

    expect(files).not.toEqual([]);
    const lost = files.filter(
      (file) => !['.test.ts', '.ts'].some((end) => existsSync(join(TEST, file + end))),
    );
    expect(lost).toEqual([]);
  });

  test('has a row for each risk of the Top 10, and one for each chapter of ASVS that applies', () => {
    for (let n = 1; n <= 10; n += 1) expect(page).toContain(`| API${n} `);
    const left = new Set([3, 7, 10, 17]);
    for (let n = 1; n <= 17; n += 1) expect(page.includes(`| V${n} `)).toBe(!left.has(n));
  });
});
