import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const SRC = join(import.meta.dirname, '../../src');
const MOST = 140;
/** What may stand around a sentence on its line: a name, a call, the end of an expression. */
const AROUND_A_SENTENCE = 60;

/** Longer lines that stay as they are, by file: how many, and why. */
const LISTED: Readonly<Record<string, readonly [lines: number, why: string]>> = {
  'db/orm.ts': [2, 'a regular expression is not broken'],
  'dgi/answers.ts': [1, 'a regular expression is not broken'],
};

const COMMENT = /^\s*(\/\*\*|\*|\/\/)/;
const STRING = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
/** Text that is code all the same: markup, SQL. */
const CODE = /<\w|^.\s*(?:select|insert into|update|delete from|with) [^.]*(?:=|\bfrom\b|\()/;

/** Whether a line says one thing in words: a comment, or a sentence with no more than its name beside it. */
function isSentence(line: string): boolean {
  const rest = line.replaceAll(STRING, (text) => (CODE.test(text) ? text : ''));
  return COMMENT.test(line) || rest.trim().length <= AROUND_A_SENTENCE;
}

test('no line is so long that a diff does not show what changed: markup and code are broken, sentences are not', () => {
  const found = globSync('**/*.ts', { cwd: SRC }).flatMap((file) => {
    const lines = readFileSync(join(SRC, file), 'utf8').split('\n');
    const long = lines.filter((line) => line.length > MOST && !isSentence(line));
    return long.length > 0 ? [[file, long.length] as const] : [];
  });
  const listed = Object.entries(LISTED).map(([file, [lines]]) => [file, lines] as const);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed));
});

test.each([
  ["      'a sentence that says something long to somebody, and goes on and on',", true],
  [`  const text = \`${'word '.repeat(40)}\${name}\`;`, true],
  [`  /** ${'word '.repeat(40)} */`, true],
  [`  html\`<p>${'word '.repeat(40)}</p>\`,`, false],
  [`  \`select ${'one, '.repeat(40)} two from three where id = ?\`,`, false],
  [`  ${'call(one, two), '.repeat(12)}`, false],
])('%j is a sentence: %s', (line, expected) => {
  expect(isSentence(line)).toBe(expected);
});
