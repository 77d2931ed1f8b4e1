import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { GROUPS } from '../../../src/cli/groups/index.ts';
import { runCli } from '../../../src/cli/run.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
const WRONG_USAGE = 2;

/** Every line of the pages that calls the command line, in blocks and in sentences. */
const calls = globSync(['*.md', 'docs/**/*.md'], { cwd: CHECKOUT }).flatMap((page) =>
  [
    ...readFileSync(join(CHECKOUT, page), 'utf8').matchAll(
      /(npm run (?:-s )?cfe --|docker compose run --rm cfe) ([^`\n#|]+)/g,
    ),
  ].map(([, call = '', words = '']) => ({ page, call, words: words.trim() })),
);

/** The words as a shell takes them apart. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');

test('the pages call the command line', () => {
  expect(calls.length).toBeGreaterThan(10);
});

test('in containers, where all are one user, whoever acts says who they are', () => {
  const inContainers = calls.filter(
    ({ call, words }) => call.startsWith('docker') && !words.startsWith('--'),
  );
  const acting = inContainers.filter(({ words }) => {
    const [group, name] = words.split(' ');
    const verbs = GROUPS.find((known) => known.name === group)?.verbs ?? [];
    return verbs.find((verb) => verb.name === name)?.reads !== true;
  });

  expect(acting.length).toBeGreaterThan(2);
  for (const { words } of acting) expect(words).toContain('--by ');
});

test.each(calls)('$page: cfe $words', async ({ words }) => {
  let said = '';
  const code = await runCli(wordsOf(words), GROUPS, {
    writeOut: () => undefined,
    writeError: (text) => void (said += text),
    // The words are what is tried here; nothing is done.
    withDeps: () => Promise.reject(new Error('not here')),
    refusalFor: () => undefined,
  });

  expect(code === WRONG_USAGE ? said : 'understood').toBe('understood');
});
