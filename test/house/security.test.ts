import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const TEST = join(import.meta.dirname, '..');
const page = readFileSync(join(TEST, '../docs/security.md'), 'utf8');

/** How many sections each chapter of ASVS 5.0 has, V1 first. */
const SECTIONS = [5, 4, 7, 4, 4, 8, 6, 4, 2, 7, 7, 3, 4, 3, 4, 5, 3];

/** The rows of every table whose last column names the test of the row. */
const rows = page
  .split('\n\n')
  .filter((block) => /^\|.*\| Test \|\n/.test(block))
  .flatMap((block) => block.trimEnd().split('\n').slice(2));
const NAMED = /`((?:house|unit|integration|workflows|replay|e2e|long)\/[\w/]+)`/g;
const testOf = (row: string): string => row.split('|').at(-2)?.trim() ?? '';

describe('docs/security.md', () => {
  test.each(rows.filter((row) => !testOf(row).startsWith('does not apply')))(
    'names tests that exist: %s',
    (row) => {
      const files = [...testOf(row).matchAll(NAMED)].map(([, file = '']) => file);

      expect(files).not.toEqual([]);
      const lost = files.filter(
        (file) => !['.test.ts', '.ts'].some((end) => existsSync(join(TEST, file + end))),
      );
      expect(lost).toEqual([]);
    },
  );

  test('has a row for each risk of the Top 10, and one for each section of ASVS', () => {
    const firstWords = rows.map((row) => row.split(' ')[1]);

    for (let n = 1; n <= 10; n += 1) expect(firstWords).toContain(`API${n}`);
    const sections = SECTIONS.flatMap((count, chapter) =>
      Array.from({ length: count }, (_, section) => `V${chapter + 1}.${section + 1}`),
    );
    expect(firstWords.filter((word) => word?.startsWith('V'))).toEqual(sections);
  });
});
