import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Lexer, type Token, type Tokens } from 'marked';
import { type Code, type GuideLanguage, guideOf, type Slug } from '../../../src/handbook/guides.ts';
import { packSdk } from '../../../tools/sdk/pack.ts';
import { runToEnd } from '../processes/processes.ts';
import { PYTHON } from '../processes/python.ts';

/** What a page has its reader type, from its first line to its last, and what it says that they see. */
interface Walk {
  program: string;
  output: string;
}

/** The walk of a guide in one way of writing. */
export const walkOf = (language: GuideLanguage, slug: Slug, code: Code): Walk =>
  walkIn(guideOf(language, slug).tokens, code);

/** What a page has every reader type in a shell before its walk, whichever way of writing they chose. */
export const forAllReaders = (language: GuideLanguage, slug: Slug): string =>
  blocksOf(guideOf(language, slug).tokens, 'bash').join('\n');

/** The walk of the package's own README. */
export const walkOfReadme = (): Walk =>
  walkIn(new Lexer().lex(readFileSync(join(import.meta.dirname, '../../../sdk/README.md'), 'utf8')), 'ts');

function walkIn(tokens: readonly Token[], code: Code): Walk {
  return {
    program: `${blocksOf(tokens, code).join('\n')}\n`,
    output: blocksOf(tokens, 'output').join('\n'),
  };
}

const blocksOf = (tokens: readonly Token[], lang: string): string[] =>
  tokens
    .filter((token): token is Tokens.Code => token.type === 'code' && token['lang'] === lang)
    .map(({ text }) => text);

/** A folder in which programs of TypeScript find the package as it is published. */
export function folderWithSdk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cfe-guides-'));
  const installed = join(folder, 'node_modules/cfe-sdk');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', packSdk(folder), '--strip-components=1', '-C', installed]);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

/** Runs the program of a guide in `cwd`; answers how it ended and what it said. */
export function runGuide(
  code: Code,
  program: string,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string>> },
): ReturnType<typeof runToEnd> {
  const runner = {
    sh: ['bash', '-euo', 'pipefail', 'guide.sh'],
    ts: [process.execPath, '--disable-warning=ExperimentalWarning', 'guide.ts'],
    py: [PYTHON, 'guide.py'],
  }[code];
  const [command = '', ...args] = runner;
  writeFileSync(join(cwd, `guide.${code}`), program);
  const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  return runToEnd(args, { command, cwd, env: { PATH, HOME: cwd, ...env } });
}
