/** The last way to a Temporal server: building it from the Go module proxy (decisions.md §10). */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CHECKOUT } from './checkout.ts';
import { needDiskSpace } from './diskSpace.ts';
import { ORDINARY_END } from './ending.ts';
import type { Guard } from './guard.ts';
import { markOf, signal as send } from './processes.ts';
import { longStep, type Say } from './progress.ts';
import { StackError } from './stackError.ts';
import { temporalVersion } from './temporalRelease.ts';
import { isAtLeast, versionIn } from './versions.ts';

const MODULE = join(CHECKOUT, 'tools', 'temporal');
const PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
/** What tools/temporal/go.mod asks for. */
const WANTED_GO = [1, 26, 4];
/** From this version on Go fetches the toolchain that a module asks for. */
const LEAST_GO = [1, 21];
const BYTES_WHILE_BUILDING = 4e9;

type Environment = Readonly<Record<string, string | undefined>>;

/** A Go that can build the server. */
export interface Go {
  readonly path: string;
  /** Whether it first fetches the toolchain that the module asks for. */
  readonly fetchesToolchain: boolean;
}

/** Asks a `go` program for its version; undefined when it does not run or is older than 1.21. */
export async function judgeGo(path: string, environment: Environment): Promise<Go | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['version'], {
      timeout: 20_000,
      cwd: '/',
      env: { ...environment, GOTOOLCHAIN: 'local' },
    });
    const version = versionIn(stdout);
    if (!isAtLeast(version, LEAST_GO)) return undefined;
    return { path, fetchesToolchain: !isAtLeast(version, WANTED_GO) };
  } catch {
    return undefined;
  }
}

/**
 * Builds the server to `target`: written under another name, run once, then renamed, so that a broken build is never
 * used. Throws StackError with the compiler's last lines; `signal` or the caller's death ends the build.
 */
export async function buildTemporal(options: {
  go: Go;
  target: string;
  environment: Environment;
  say: Say;
  guard?: Guard;
  signal?: AbortSignal;
}): Promise<void> {
  const { go, target, say } = options;
  needDiskSpace(dirname(target), BYTES_WHILE_BUILDING, 'Building the Temporal server');
  const written = `${target}.${process.pid}.part`;
  const log = `${target}.build.log`;
  const child = spawn(go.path, ['build', '-trimpath', '-ldflags', '-s -w', '-o', written, PACKAGE], {
    cwd: MODULE,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...options.environment,
      GOFLAGS: '-mod=readonly',
      GOWORK: 'off',
      CGO_ENABLED: '0',
      GOTOOLCHAIN: go.fetchesToolchain ? 'auto' : 'local',
    },
  });
  try {
    await longStep(
      {
        say,
        title: `Building the Temporal server with Go, once${go.fetchesToolchain ? ' (fetching a newer Go first)' : ''}`,
        usually: '5 minutes on 2 cores, less on more',
        everySeconds: 15,
      },
      () => finished(child, log, options),
    );
    const version = await temporalVersion(written);
    if (!version?.newEnough)
      throw new StackError(`The Temporal server was built but does not run as it should: ${written}.`);
    await rename(written, target);
    await rm(log, { force: true });
  } finally {
    await rm(written, { force: true });
  }
}

async function finished(
  child: ChildProcess,
  log: string,
  options: { guard?: Guard; signal?: AbortSignal },
): Promise<void> {
  const mark = child.pid === undefined ? undefined : markOf(child.pid);
  if (mark) options.guard?.add({ mark, plan: ORDINARY_END, order: 0 });
  const end = (): void => {
    if (child.pid !== undefined) send(-child.pid, 'SIGKILL');
  };
  if (options.signal?.aborted) end();
  options.signal?.addEventListener('abort', end, { once: true });
  const out = createWriteStream(log);
  child.stdout?.pipe(out, { end: false });
  child.stderr?.pipe(out, { end: false });
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  await new Promise<void>((resolve) => out.end(resolve));
  options.signal?.removeEventListener('abort', end);
  if (mark) options.guard?.drop(mark);
  options.signal?.throwIfAborted();
  if (code === 0) return;
  const said = await readFile(log, 'utf8');
  throw new StackError(
    `The Temporal server could not be built:\n${said.trim().split('\n').slice(-8).join('\n')}\nAll of it is in ${log}.`,
  );
}
