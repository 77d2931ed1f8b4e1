/** The one way in which tests, benchmarks and drills start programs, wait for them, and end them. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import got from 'got';
import { PATIENCE, until } from '../until.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
const PRELOAD = pathToFileURL(join(CHECKOUT, 'local/stack/processes/endWithLauncher.ts')).href;
/** A worker may take 30 s to end what it has in hand. */
const SECONDS_TO_END = 45;

/** A program that was started. */
export interface Program {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Both, as they came. */
  readonly output: () => string;
  readonly hasEnded: () => boolean;
  /** Resolves with the exit code once it has ended and all that it said is read; 137 after SIGKILL, 143 after another signal. */
  readonly ended: Promise<number>;
  /** Ends it by SIGTERM, by SIGKILL if it does not heed that; resolves with the exit code. */
  stop(): Promise<number>;
}

/** Node's arguments, beginning with the program (its path in the checkout), or the arguments of `command`. */
export interface Start extends Pick<SpawnOptions, 'cwd' | 'detached' | 'uid' | 'gid'> {
  command?: string;
  /** All variables that it gets; `inherited()` unless told. */
  env?: NodeJS.ProcessEnv;
}

/** The variables of this process but those that name the servers of the test run, and Jest's own. */
export const inherited = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  TEMPORAL_ADDRESS: undefined,
  DATABASE_URL: undefined,
  CFE_TEST_POSTGRES_URL: undefined,
  NODE_OPTIONS: undefined,
  ...more,
});

/** Starts a program and returns at once. A program of Node's is ended, too, when this process is killed. */
export function start(
  args: readonly string[],
  { command, env = inherited(), ...options }: Start = {},
): Program {
  // Another user may not be allowed to read the preload.
  const preload = options.uid ? [] : [`--import=${PRELOAD}?parent=${process.pid}`];
  const words = command ? args : ['--disable-warning=ExperimentalWarning', ...preload, ...args];
  const child = spawn(command ?? process.execPath, words, {
    cwd: CHECKOUT,
    ...options,
    env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '', both: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text;
      said.both += text;
    });
  }
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 143)));
  });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    output: () => said.both,
    hasEnded,
    ended,
    async stop() {
      if (!hasEnded()) child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), SECONDS_TO_END * PATIENCE * 1_000);
      return ended.finally(() => clearTimeout(timer));
    },
  };
}

/** Waits until `look` answers something; a program that ends before, or is too slow, is killed and what it said thrown. */
export async function ready<T>(
  program: Program,
  what: string,
  look: () => Promise<T | undefined | false>,
): Promise<T> {
  try {
    return await until(what, 60, async () => {
      if (program.hasEnded()) throw new Error(`${what} ended at its start`);
      return look();
    });
  } catch (error) {
    program.child.kill('SIGKILL');
    await program.ended;
    throw new Error(`${error instanceof Error ? error.message : String(error)}:\n${program.output()}`, {
      cause: error,
    });
  }
}

/** What came of a program that has ended. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Starts a program and waits until it has ended. */
export async function runToEnd(args: readonly string[], options?: Start): Promise<Outcome> {
  const program = start(args, options);
  return { code: await program.ended, stdout: program.stdout(), stderr: program.stderr() };
}

/** The status that a URL answers GET with; 0 where nobody answers. */
export async function statusOf(url: string): Promise<number> {
  const { statusCode } = await got
    .get(url, { throwHttpErrors: false, retry: { limit: 0 } })
    .catch(() => ({ statusCode: 0 }));
  return statusCode;
}
