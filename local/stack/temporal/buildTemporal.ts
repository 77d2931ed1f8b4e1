/**
 * The last resort for a Temporal server: building it with Go (docs/local.md#where-temporal-comes-from).
 */
import { execFile } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Variables } from '../../../src/config.ts';
import { CHECKOUT } from '../checkout.ts';
import { needDiskSpace } from '../postgres/diskSpace.ts';
import { ORDINARY_END } from '../processes/ending.ts';
import { type Command, lastLines, launch } from '../processes/launch.ts';
import { endProcess } from '../processes/processes.ts';
import { longStep, type Say } from '../processes/progress.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { StackError } from '../stackError.ts';
import { temporalVersion } from './temporalRelease.ts';
import { isAtLeast, versionIn } from './versions.ts';

const MODULE = join(CHECKOUT, 'tools', 'temporal');
const PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
/** What tools/temporal/go.mod asks for. */
const WANTED_GO = [1, 26, 4];
/** The first Go that fetches the toolchain a module asks for. */
const LEAST_GO = [1, 21];
const BYTES_WHILE_BUILDING = 4e9;

/** A Go toolchain that can build the server. */
export interface Go {
  readonly path: string;
  /** Whether it first fetches the toolchain that the module asks for. */
  readonly fetchesToolchain: boolean;
}

/** Asks a `go` program for its version; undefined when it does not run or is older than 1.21. */
export async function judgeGo(path: string, variables: Variables): Promise<Go | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['version'], {
      timeout: 20_000,
      cwd: '/',
      env: { ...variables, GOTOOLCHAIN: 'local' },
    });
    const version = versionIn(stdout);
    if (!isAtLeast(version, LEAST_GO)) return undefined;
    return { path, fetchesToolchain: !isAtLeast(version, WANTED_GO) };
  } catch {
    return undefined;
  }
}

/**
 * Builds the server to `target`: under another name first, renamed once it has run, so that a broken build is never
 * used. Throws StackError with the compiler's last lines; `signal` or the caller's death ends the build.
 */
export async function buildTemporal(options: {
  go: Go;
  target: string;
  variables: Variables;
  say: Say;
  watchdog?: Watchdog;
  signal?: AbortSignal;
}): Promise<void> {
  const { go, target, say } = options;
  needDiskSpace(dirname(target), BYTES_WHILE_BUILDING, 'Building the Temporal server');
  const written = `${target}.${process.pid}.part`;
  const log = `${target}.build.log`;
  await rm(log, { force: true });
  const command: Command = {
    program: go.path,
    args: ['build', '-trimpath', '-ldflags', '-s -w', '-o', written, PACKAGE],
    cwd: MODULE,
    env: {
      ...options.variables,
      GOFLAGS: '-mod=readonly',
      GOWORK: 'off',
      CGO_ENABLED: '0',
      GOTOOLCHAIN: go.fetchesToolchain ? 'auto' : 'local',
    },
    logFile: log,
  };
  try {
    await longStep(
      {
        say,
        title: `Building the Temporal server with Go, once${go.fetchesToolchain ? ' (fetching a newer Go first)' : ''}`,
        usually: '5 minutes on 2 cores, less on more',
        everySeconds: 15,
      },
      () => finish(command, options),
    );
    const version = await temporalVersion(written);
    if (!version?.newEnough)
      throw new StackError(`The Temporal server was built but does not run: ${written}.`);
    await rename(written, target);
    await rm(log, { force: true });
  } finally {
    await rm(written, { force: true });
  }
}

/** Runs the command to its end. Throws StackError when it fails, and the signal's reason when it was aborted. */
async function finish(
  command: Command,
  { watchdog, signal }: { watchdog?: Watchdog; signal?: AbortSignal },
): Promise<void> {
  signal?.throwIfAborted();
  const { mark, ended } = launch(command);
  if (mark) watchdog?.add({ mark, plan: ORDINARY_END, order: 0 });
  const kill = (): void => void (mark && endProcess(mark, []));
  signal?.addEventListener('abort', kill, { once: true });
  const { exitCode } = await ended;
  signal?.removeEventListener('abort', kill);
  if (mark) watchdog?.drop(mark);
  signal?.throwIfAborted();
  if (exitCode === 0) return;
  throw new StackError(
    `The Temporal server could not be built:\n${lastLines(command.logFile, 8)}\nFull log: ${command.logFile}`,
  );
}
