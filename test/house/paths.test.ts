import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/paths.md'), 'utf8');

/** The paths that the page must have. */
const PATHS = ['Issuing', 'A lost answer', "An operator's retry", 'A daily report', 'A webhook', 'An e-mail'];

/** Each path: its heading, the arrows of its drawing, and the hops of its list. */
const paths = page
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    arrows: (section.match(/^ +\w+-{1,2}(?:>>|x)\w+: \S/gm) ?? []).length,
    hops: [...section.matchAll(/^(\d+)\. `([^`]+)` `([^`]+)`/gm)].map(([, number, file = '', name = '']) => ({
      number: Number(number),
      file,
      name,
    })),
  }));

describe('docs/paths.md', () => {
  test('has the six paths', () => {
    expect(paths.map(({ title }) => title)).toEqual(PATHS);
  });

  test.each(paths)('$title: a hop for each arrow, in order', ({ arrows, hops }) => {
    expect(hops.length).toBeGreaterThan(5);
    expect(hops.map(({ number }) => number)).toEqual(Array.from({ length: arrows }, (_, index) => index + 1));
  });

  test.each(paths.flatMap(({ title, hops }) => hops.map((hop) => ({ title, ...hop }))))(
    '$title $number: $file has $name',
    ({ file, name }) => {
      expect(existsSync(join(ROOT, file))).toBe(true);
      const code = readFileSync(join(ROOT, file), 'utf8')
        .replaceAll(/^import [^;]*;$/gm, '')
        .replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
      expect(code).toMatch(new RegExp(`\\b${name}\\b`));
    },
  );

  test('every other file that it names exists', () => {
    const named = [...page.matchAll(/`((?:src|test)\/[\w./]+)`/g)].map(([, file = '']) => file);
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});
