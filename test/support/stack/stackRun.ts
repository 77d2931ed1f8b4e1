/** A stack that runs as npm runs it, for tests: started, asked, killed in every way, and looked after for leftovers. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLock } from '../../../src/stack/fileLock.ts';
import { isRunning, markOf, type ProcessMark, waitUntil } from '../../../src/stack/processes.ts';
import { lockFileOf, runningStack, type StackInfo } from '../../../src/stack/stackFile.ts';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));

/** Kinds of Node that `npm start` may begin on: the packaged one puts the program in its place, an old one runs it as a child. */
export function nodes(): { name: string; node: string }[] {
  const packaged = join(PROJECT, 'node_modules/.bin/node');
  const system = (process.env['PATH'] ?? '')
    .split(':')
    .map((folder) => join(folder, 'node'))
    .find((file) => existsSync(file) && !realpathSync(file).includes('node_modules'));
  return [
    { name: 'the packaged Node', node: existsSync(packaged) ? packaged : process.execPath },
    ...(system ? [{ name: "the system's Node", node: system }] : []),
  ];
}

/** A run of the stack. */
export interface StackRun {
  /** What npm would be: `sh -c 'exec node tools/setup.mjs …'` replaced by the launcher, leading a process group. */
  readonly launcher: ChildProcess;
  readonly output: () => string;
  /** Resolves with the exit code (128 and more: by a signal). */
  readonly exited: Promise<number>;
}

/** Starts the stack of stand-ins (or another program) on a data folder. */
export function startRun(options: {
  dataDir: string;
  node?: string;
  checkout?: string;
  program?: string;
  env?: Record<string, string>;
}): StackRun {
  const checkout = options.checkout ?? PROJECT;
  const program = options.program ?? 'test/support/stack/fakeStack.ts';
  const { NODE_OPTIONS: _, TEMPORAL_ADDRESS: _2, DATABASE_URL: _3, ...environment } = process.env;
  const launcher = spawn(
    'sh',
    ['-c', `exec "${options.node ?? process.execPath}" tools/setup.mjs ${program}`],
    {
      cwd: checkout,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...environment, npm_lifecycle_event: 'start', CFE_DATA_DIR: options.dataDir, ...options.env },
    },
  );
  let output = '';
  for (const stream of [launcher.stdout, launcher.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number>((done) => {
    launcher.once('exit', (code, signal) => done(code ?? (signal === 'SIGKILL' ? 137 : 143)));
  });
  return { launcher, output: () => output, exited };
}

/** Waits until the stack of the folder says that it is ready. Throws with its output when it does not. */
export async function untilReady(run: StackRun, dataDir: string, withinMs = 60_000): Promise<StackInfo> {
  let info: StackInfo | undefined;
  let over = false;
  void run.exited.then(() => (over = true));
  await waitUntil(() => over || (info = runningStack(dataDir)) !== undefined, withinMs);
  if (!info) throw new Error(`the stack did not come up:\n${run.output()}`);
  return info;
}

/** Every process that belongs to the run now: launcher, supervisor, guard, parts. */
export function processesOf(run: StackRun, dataDir: string): ProcessMark[] {
  const record = readLock(lockFileOf(dataDir));
  const marks = [
    markOf(run.launcher.pid ?? 0),
    record?.holder,
    record?.guard,
    ...(record?.parts ?? []).map(({ mark }) => mark),
  ];
  return marks.filter((mark) => mark !== undefined);
}

/** Command lines of whatever is left of the processes, and of any other that speaks of the data folder. */
export function leftOf(processes: readonly ProcessMark[], dataDir: string): string[] {
  const known = processes.filter(isRunning).map(({ pid }) => `process ${pid}`);
  const all = execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' }).split('\n');
  return [...known, ...all.filter((line) => line.includes(dataDir))];
}
