/** A stack that runs as npm runs it, for tests: started, asked, killed in every way, and looked after for leftovers. */
import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning, markOf, type ProcessMark } from '../../../local/stack/processes/processes.ts';
import { readRunRecord } from '../../../local/stack/processes/runRecord.ts';
import { runningStack, type StackInfo } from '../../../local/stack/stackFile.ts';
import { inherited, type Program, ready, start } from '../processes/processes.ts';
import { until } from '../until.ts';

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

/**
 * Starts the stack of stand-ins on a data folder, as npm does it: `sh -c 'exec node tools/setup.mjs …'` is replaced by
 * the launcher, which leads a process group.
 */
export function startRun(options: {
  dataDir: string;
  node?: string;
  checkout?: string;
  env?: Record<string, string>;
}): Program {
  const { dataDir, node = process.execPath, checkout = PROJECT } = options;
  return start(['-c', `exec "${node}" tools/setup.mjs test/support/stack/fakeStack.ts`], {
    command: 'sh',
    cwd: checkout,
    detached: true,
    env: inherited({ npm_lifecycle_event: 'start', CFE_DATA_DIR: dataDir, ...options.env }),
  });
}

/** Waits until the stack of the folder says that it is ready. Throws with its output when it does not. */
export const untilReady = (run: Program, dataDir: string): Promise<StackInfo> =>
  ready(run, 'the stack', async () => runningStack(dataDir));

/** Every process that belongs to the run now: launcher, supervisor, watchdog, parts. */
export function processesOf(run: Program, dataDir: string): ProcessMark[] {
  const record = readRunRecord(dataDir);
  const marks = [
    markOf(run.child.pid ?? 0),
    record?.holder,
    record?.watchdog,
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

/** Waits until nothing of the run is left. */
export async function untilNothingIsLeft(processes: readonly ProcessMark[], dataDir: string): Promise<void> {
  await until('the end of everything', 15, async () => leftOf(processes, dataDir).length === 0);
}
