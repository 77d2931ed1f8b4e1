/**
 * Finding a Temporal server on this machine, or getting one, in the order of
 * docs/local.md#where-temporal-comes-from.
 */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Variables } from '../../../src/config.ts';
import { takeLock } from '../processes/fileLock.ts';
import type { Say } from '../processes/progress.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { StackError } from '../stackError.ts';
import { buildTemporal, type Go, judgeGo } from './buildTemporal.ts';
import { downloadTemporal } from './downloadTemporal.ts';
import { TEMPORAL_CLI_VERSION, temporalVersion } from './temporalRelease.ts';

/** Where the pinned release can be downloaded, without the query that names the machine. */
const TEMPORAL_DOWNLOAD_URL = `https://temporal.download/cli/archive/v${TEMPORAL_CLI_VERSION}`;

export interface ObtainOptions {
  /** PATH, HOME, XDG_CACHE_HOME, TEMPORAL_CLI_PATH, CFE_TEMPORAL_DOWNLOAD_URL and CFE_TEMPORAL_SHA256 are read from it. */
  readonly variables: Variables;
  readonly say: Say;
  /** Ends a build should this process die. */
  readonly watchdog?: Watchdog;
  readonly signal?: AbortSignal;
}

/** A program to start the server with, and where it came from. */
export interface ObtainedTemporal {
  readonly path: string;
  readonly from: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'download' | 'build';
}

/** The file in the cache that a downloaded or built program becomes. */
export function cachedTemporal(variables: Variables): string {
  const given = variables['XDG_CACHE_HOME'];
  const cache = given && isAbsolute(given) ? given : join(variables['HOME'] || homedir(), '.cache');
  return join(cache, 'cfe', `temporal-${TEMPORAL_CLI_VERSION}`);
}

/** All executable files of a name on the PATH, in its order. */
function onPath(name: string, variables: Variables): readonly string[] {
  const folders = (variables['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).filter(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The Temporal program to use, obtained if need be. Throws StackError that says what to install or which variable to
 * set.
 */
export async function obtainTemporal(options: ObtainOptions): Promise<ObtainedTemporal> {
  const named = await namedByVariable(options.variables['TEMPORAL_CLI_PATH']);
  if (named) return named;
  for (const path of onPath('temporal', options.variables)) {
    const version = await temporalVersion(path);
    if (version?.newEnough) return { path, from: 'PATH' };
    if (version) options.say(`${path} is too old (${version.said}); looking further.`);
  }
  const target = cachedTemporal(options.variables);
  if (existsSync(target)) return { path: target, from: 'cache' };
  const folder = dirname(target);
  mkdirSync(folder, { recursive: true });
  return alone(join(folder, 'temporal.lock'), options, async () =>
    existsSync(target) ? { path: target, from: 'cache' } : fetchOrBuild(target, options),
  );
}

async function namedByVariable(path: string | undefined): Promise<ObtainedTemporal | undefined> {
  if (!path) return undefined;
  const version = await temporalVersion(path);
  if (version?.newEnough) return { path, from: 'TEMPORAL_CLI_PATH' };
  throw new StackError(
    version
      ? `TEMPORAL_CLI_PATH names ${path}, which is too old (${version.said}); it must be Temporal CLI ${TEMPORAL_CLI_VERSION} or later.`
      : `TEMPORAL_CLI_PATH names ${path}, which cannot be run; it must be Temporal CLI ${TEMPORAL_CLI_VERSION} or later.`,
  );
}

async function fetchOrBuild(target: string, options: ObtainOptions): Promise<ObtainedTemporal> {
  const { variables, say, watchdog, signal } = options;
  const base = variables['CFE_TEMPORAL_DOWNLOAD_URL'] || TEMPORAL_DOWNLOAD_URL;
  let obstacle: string;
  try {
    const sha256 = variables['CFE_TEMPORAL_SHA256'] || undefined;
    await downloadTemporal({ base, target, sha256, say, ...(signal ? { signal } : {}) });
    return { path: target, from: 'download' };
  } catch (error) {
    signal?.throwIfAborted();
    obstacle = error instanceof Error ? error.message : 'unknown';
    say(`The Temporal server cannot be downloaded: ${obstacle}.`);
  }
  const go = await findGo(variables);
  if (!go) throw new StackError(nothingFound(base, obstacle));
  await buildTemporal({
    go,
    target,
    variables,
    say,
    ...(watchdog ? { watchdog } : {}),
    ...(signal ? { signal } : {}),
  });
  return { path: target, from: 'build' };
}

async function findGo(variables: Variables): Promise<Go | undefined> {
  const found: Go[] = [];
  for (const path of onPath('go', variables)) {
    const go = await judgeGo(path, variables);
    if (go && !go.fetchesToolchain) return go;
    if (go) found.push(go);
  }
  return found[0];
}

const nothingFound = (base: string, obstacle: string): string =>
  [
    'No Temporal server was found, and none can be downloaded or built. Any one of these helps:',
    `  - access to ${new URL(base).host} (${obstacle}), or a copy of its archive: CFE_TEMPORAL_DOWNLOAD_URL=https://…`,
    `  - the Temporal CLI ${TEMPORAL_CLI_VERSION} or later on the PATH, or its path: TEMPORAL_CLI_PATH=/…/temporal`,
    '  - Go 1.26.4 or later on the PATH (builds the server, once, in about 5 minutes)',
    '  - a Temporal server that is running already: TEMPORAL_ADDRESS=host:port',
  ].join('\n');

/** One process at a time obtains the program; another waits, then finds it in the cache. */
async function alone<T>(lock: string, options: ObtainOptions, work: () => Promise<T>): Promise<T> {
  let held = takeLock(lock);
  if (!held) options.say('Another process is obtaining the Temporal server; waiting for it …');
  while (!held) {
    await pause(500, undefined, options.signal ? { signal: options.signal } : {});
    held = takeLock(lock);
  }
  try {
    return await work();
  } finally {
    held.release();
  }
}
