import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const CHECKOUT = resolve(import.meta.dirname, '../..');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: CHECKOUT });

test.each(pages)('every link of %s leads somewhere', (page) => {
  const text = readFileSync(join(CHECKOUT, page), 'utf8');
  const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target = '']) => target);
  const lost = targets.filter((target) => !existsSync(join(CHECKOUT, dirname(page), target)));
  expect(lost).toEqual([]);
});
