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

/** About the words themselves, or with names that histories of workflows and tests of crashes rest on (`told`). */
const OTHERS = [
  'docs/glossary.md',
  'src/failpoints.ts',
  'src/activities/recordExpiries.ts',
  'src/domain/activityResults.ts',
  'src/outbox/dispatcher.ts',
  'src/workflows/scheduled.ts',
];

const wordsIn = (file: string): string[] =>
  read(file)
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(found)].map(([word]) => `${file}:${index + 1}: ${word.toLowerCase()}`),
    );

describe('words that the glossary replaces', () => {
  test('are a list of some length', () => {
    expect(NEVER.length).toBeGreaterThan(15);
    expect('They are told of it anew'.match(found)).toEqual(['told', 'anew']);
  });

  test.each(['src', 'docs', 'sdk', 'ops'])('are not used in %s', (folder) => {
    const files = filesIn(folder, /\.(ts|mjs|md|ya?ml)$/).filter((file) => !OTHERS.includes(file));

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
