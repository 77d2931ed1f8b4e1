import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const BIOME = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8')) as {
  overrides: { includes: string[] }[];
};
const FORMATTED = BIOME.overrides.flatMap(({ includes }) => includes);

test('markup in templates is formatted: it stands in the folders that biome.json leaves to Prettier', () => {
  const isMarkup = (name: string): boolean => /\bhtml`/.test(readFileSync(join(ROOT, name), 'utf8'));
  expect(globSync(FORMATTED, { cwd: ROOT }).some((name) => name.endsWith('.ts') && isMarkup(name))).toBe(
    true,
  );
  const others = globSync('{src,local,tools}/**/*.ts', { cwd: ROOT, exclude: FORMATTED });
  expect(others.length).toBeGreaterThan(100);
  expect(others.filter(isMarkup)).toEqual([]);
});
