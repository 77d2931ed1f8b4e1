import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const CHECKOUT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(CHECKOUT, path), 'utf8');

/** The left column of *Never* in the glossary: words with a better one of the trade. */
const NEVER = [
  ...(read('docs/glossary.md').split('## Never')[1]?.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]+) \|/gm),
]
  .map(([, cell = '']) => cell.replaceAll(/\([^)]*\)/g, '').trim())
  .filter((cell) => cell !== 'Not' && !cell.startsWith('---'))
  .flatMap((cell) => cell.split(','))
  .map((word) => word.trim());

const found = new RegExp(`(?<![\\w-])(?:${NEVER.join('|')})(?![\\w-])`, 'gi');

const filesIn = (folder: string, ends: RegExp): string[] =>
  readdirSync(join(CHECKOUT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => ends.test(file))
    .map((file) => join(folder, file));

/** The page about the words. */
const GLOSSARY = 'docs/glossary.md';

/** Names that histories of workflows and the tests of crashes rest on, by file. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  'src/failpoints.ts': ['told'],
  'src/activities/enterprises/recordExpiries.ts': ['told'],
  'src/domain/authority/activityResults.ts': ['told'],
  'src/outbox/dispatcher.ts': ['told'],
  'src/workflows/scheduled.ts': ['told'],
};

const wordsIn = (file: string): string[] =>
  read(file)
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(found)]
        .map(([word]) => word.toLowerCase())
        .filter((word) => !FIXED[file]?.includes(word))
        .map((word) => `${file}:${index + 1}: ${word}`),
    );

describe('words that the glossary replaces', () => {
  test('are a list of some length', () => {
    expect(NEVER.length).toBeGreaterThanOrEqual(60);
    expect('They are told of it anew'.match(found)).toEqual(['told', 'anew']);
  });

  test.each(['src', 'docs', 'sdk', 'ops'])('are not used in %s', (folder) => {
    const files = filesIn(folder, /\.(ts|mjs|md|ya?ml)$/).filter((file) => file !== GLOSSARY);

    expect(files.length).toBeGreaterThan(0);
    expect(files.flatMap(wordsIn)).toEqual([]);
  });

  test.each(['README.md', 'CONTRIBUTING.md', '.env.example', 'docker-compose.temporal.yml'])(
    'are not used in %s',
    (file) => {
      expect(wordsIn(file)).toEqual([]);
    },
  );
});
