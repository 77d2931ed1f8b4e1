import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
/** Every file of the repository that is text of ours: what git tracks, and what it does not ignore. */
const FILES = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .stdout.split('\n')
  .filter((file) => /\.(ts|mjs|md|ya?ml|json|sql)$|^[^/]*\.[a-z]*$|^\.ci\//.test(file))
  .filter((file) => !/package-lock\.json$|^test\/(fixtures|replay\/histories)\//.test(file))
  .filter((file) => existsSync(join(ROOT, file)));
const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** This file names what must not be named. */
const SELF = 'test/house/citations.test.ts';
/** Papers that the repository does not hold, and folders beside it. */
const ELSEWHERE =
  /\b(decisions|interface|INDEX|exchange|cfe-format)\.md\b|(?<![\w-])transport\.md\b|(?<!docs\/)\bguides\/|\/work\/|\bcoord\/|\bdecisions\/\d{4}/;
/** The folder of the authority's files, beside the checkout: .ci/run alone may know it. */
const BESIDE = /\.\.\/shared\b/;

/** Guides are served by our own site, whose anchors are not GitHub's: unit/handbook/guides follows them. */
const GUIDES = 'docs/guides/';

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(page: string): Set<string> {
  const withoutCode = text(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  const seen = new Map<string, number>();
  return new Set(
    [...withoutCode.matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading = '']) => {
      const slug = heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
        .replaceAll(' ', '-');
      const times = seen.get(slug) ?? 0;
      seen.set(slug, times + 1);
      return times === 0 ? slug : `${slug}-${times}`;
    }),
  );
}

/** What a file cites: a page from the root of the repository, and perhaps an anchor in it. */
function citationsIn(file: string): { said: string; page: string; anchor: string | undefined }[] {
  const found = text(file);
  const named = [...found.matchAll(/(?<![\w./-])(docs\/[\w./-]+\.md)(?:#([\w-]+))?/g)].map(
    ([said, page = '', anchor]) => ({ said, page: normalize(page), anchor }),
  );
  const links = file.endsWith('.md')
    ? [...found.matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([said, page = '', anchor]) => ({
        said,
        page: page === '' ? file : normalize(join(dirname(file), page)),
        anchor,
      }))
    : [];
  return [...named, ...links];
}

describe('what the repository cites', () => {
  test('every page and every anchor named in code, tests, tools and pages is there', () => {
    expect(FILES.length).toBeGreaterThan(500);
    const missing = FILES.flatMap((file) =>
      citationsIn(file).flatMap(({ said, page, anchor }) => {
        if (!existsSync(join(ROOT, page))) return [`${file}: ${said}: no such page`];
        if (anchor === undefined || !page.endsWith('.md') || page.startsWith(GUIDES)) return [];
        return anchorsOf(page).has(anchor) ? [] : [`${file}: ${said}: no such anchor`];
      }),
    );
    expect(missing).toEqual([]);
  });

  test('no file names a page or a folder outside the repository', () => {
    const outside = FILES.filter((file) => file !== SELF).flatMap((file) =>
      text(file)
        .split('\n')
        .flatMap((line, index) => {
          const bad = ELSEWHERE.exec(line) ?? (file === '.ci/run' ? null : BESIDE.exec(line));
          return bad ? [`${file}:${index + 1}: ${bad[0]}`] : [];
        }),
    );
    expect(outside).toEqual([]);
  });

  test('the format of CFEs is cited in the version that docs/authority describes', () => {
    const others = FILES.filter((file) => /^(src|test|tools)\//.test(file) && file !== SELF).flatMap((file) =>
      [...text(file).matchAll(/Formato CFE (?!v25\.2\b)\S*/g)].map(([said]) => `${file}: ${said}`),
    );
    expect(others).toEqual([]);
  });
});
