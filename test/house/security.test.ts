import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const TEST = join(import.meta.dirname, '..');
const page = readFileSync(join(TEST, '../docs/security.md'), 'utf8');

/** How many sections each chapter of ASVS 5.0 has, V1 first. */
const SECTIONS = [5, 4, 7, 4, 4, 8, 6, 4, 2, 7, 7, 3, 4, 3, 4, 5, 3];

/** The items that a test proves: threats in bold, risks and sections by their numbers. */
const items = page.split('\n').filter((line) => /^- (\*\*|API\d|V\d)/.test(line));
const NAMED = /`((?:house|unit|integration|workflows|replay|e2e|long)\/[\w/]+)`/g;

describe('docs/security.md', () => {
  test('has many such items', () => expect(items.length).toBeGreaterThan(90));

  test.each(items)('names tests that exist: %s', (item) => {
    const files = [...item.matchAll(NAMED)].map(([, file = '']) => file);

    expect(files).not.toEqual([]);
    const lost = files.filter(
      (file) => !['.test.ts', '.ts'].some((end) => existsSync(join(TEST, file + end))),
    );
    expect(lost).toEqual([]);
  });

  test('has an item for each risk of the Top 10, and names each section of ASVS once', () => {
    for (let n = 1; n <= 10; n += 1)
      expect(items.filter((item) => item.startsWith(`- API${n} `))).toHaveLength(1);
    const sections = SECTIONS.flatMap((count, chapter) =>
      Array.from({ length: count }, (_, section) => `V${chapter + 1}.${section + 1}`),
    );
    expect([...page.matchAll(/\bV\d+\.\d+/g)].map(([section]) => section).toSorted()).toEqual(
      sections.toSorted(),
    );
  });
});
