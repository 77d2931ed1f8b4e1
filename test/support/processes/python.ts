import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { testWith } from '../simulator/tools.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** Where the tools of test/python are, which .ci/run installs (CONTRIBUTING.md). */
const TOOLS = process.env['CFE_PYTHON_TOOLS'] || join(ROOT, '.local/python/bin');

/** A Python with `requests`, among others. */
export const PYTHON = join(TOOLS, 'python');

/** For tests that need the tools in Python; in CI they run, and fail, without. */
export const testWithPython = testWith(
  ['python', 'schemathesis', 'openapi-python-client'].every((tool) => existsSync(join(TOOLS, tool))),
  'the tools of test/python/requirements.txt (.local/python)',
);

/** Runs one of the tools in test/python: its exit code, and all that it said. */
export function runTool(
  tool: string,
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string; said: string }> {
  const child = spawn(join(TOOLS, tool), parameters, {
    cwd: join(ROOT, 'test/python'),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PYTHONUTF8: '1', ...environment },
  });
  let [output, said] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
    said += part;
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    said += part;
  });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done({ code, output, said }));
  });
}
