/** Finding a Temporal server on this machine, or bringing one here; the order is that of decisions.md §10. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { buildTemporal, type Go, judgeGo } from './buildTemporal.ts';
import { downloadTemporal } from './downloadTemporal.ts';
import { ownMark, releaseLock, takeLock } from './fileLock.ts';
import type { Guard } from './guard.ts';
import type { Say } from './progress.ts';
import { StackError } from './stackError.ts';
import { TEMPORAL_CLI_VERSION, temporalVersion } from './temporalRelease.ts';

/** Where the pinned release can be downloaded, without the query that names the machine. */
const TEMPORAL_DOWNLOAD_URL = `https://temporal.download/cli/archive/v${TEMPORAL_CLI_VERSION}`;

export interface ObtainOptions {
  /** PATH, HOME, XDG_CACHE_HOME, TEMPORAL_CLI_PATH and CFE_TEMPORAL_DOWNLOAD_URL are read from it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly say: Say;
  /** Ends a build should this process die. */
  readonly guard?: Guard;
  readonly signal?: AbortSignal;
}

/** A program to start the server with, and where it came from. */
export interface ObtainedTemporal {
  readonly path: string;
  readonly from: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'download' | 'build';
}

/** The file in the cache that a downloaded or built program becomes. */
export function cachedTemporal(environment: ObtainOptions['environment']): string {
  const given = environment['XDG_CACHE_HOME'];
  const cache = given && isAbsolute(given) ? given : join(environment['HOME'] || homedir(), '.cache');
  return join(cache, 'cfe', `temporal-${TEMPORAL_CLI_VERSION}`);
}

/** All executable files of a name on the PATH, first found first. */
function onPath(name: string, environment: ObtainOptions['environment']): readonly string[] {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
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
 * The Temporal program to use, obtained if need be. Throws StackError: what to install or which variable to set.
 */
export async function obtainTemporal(options: ObtainOptions): Promise<ObtainedTemporal> {
  const named = await namedByVariable(options.environment['TEMPORAL_CLI_PATH']);
  if (named) return named;
  for (const path of onPath('temporal', options.environment)) {
    const version = await temporalVersion(path);
    if (version?.newEnough) return { path, from: 'PATH' };
    if (version) options.say(`${path} is too old for us (${version.said}); looking further.`);
  }
  const target = cachedTemporal(options.environment);
  if (existsSync(target)) return { path: target, from: 'cache' };
  mkdirSync(join(target, '..'), { recursive: true });
  return alone(`${target}.lock`, options, async () =>
    existsSync(target) ? { path: target, from: 'cache' } : bring(target, options),
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

async function bring(target: string, options: ObtainOptions): Promise<ObtainedTemporal> {
  const { environment, say, guard, signal } = options;
  const base = environment['CFE_TEMPORAL_DOWNLOAD_URL'] || TEMPORAL_DOWNLOAD_URL;
  let obstacle: string;
  try {
    await downloadTemporal({ base, target, say, ...(signal ? { signal } : {}) });
    return { path: target, from: 'download' };
  } catch (error) {
    signal?.throwIfAborted();
    obstacle = error instanceof Error ? error.message : 'unknown';
    say(`The Temporal server cannot be downloaded: ${obstacle}.`);
  }
  const go = await findGo(environment);
  if (!go) throw new StackError(nothingFound(base, obstacle));
  await buildTemporal({
    go,
    target,
    environment,
    say,
    ...(guard ? { guard } : {}),
    ...(signal ? { signal } : {}),
  });
  return { path: target, from: 'build' };
}

async function findGo(environment: ObtainOptions['environment']): Promise<Go | undefined> {
  const found: Go[] = [];
  for (const path of onPath('go', environment)) {
    const go = await judgeGo(path, environment);
    if (go && !go.fetchesToolchain) return go;
    if (go) found.push(go);
  }
  return found[0];
}

const nothingFound = (base: string, obstacle: string): string =>
  [
    'There is no Temporal server here, and none can be had. One of these helps:',
    `  - a way to ${new URL(base).host} (${obstacle}), or its archive elsewhere: CFE_TEMPORAL_DOWNLOAD_URL=https://…`,
    `  - the Temporal CLI ${TEMPORAL_CLI_VERSION} or later on the PATH, or its place: TEMPORAL_CLI_PATH=/…/temporal`,
    '  - Go 1.26.4 or later on the PATH (the server is then built, once, in some 5 minutes)',
    '  - a Temporal server that runs already: TEMPORAL_ADDRESS=host:port',
  ].join('\n');

/** One process at a time brings the program; another waits for it and then finds it in the cache. */
async function alone<T>(lock: string, options: ObtainOptions, work: () => Promise<T>): Promise<T> {
  const record = { holder: ownMark() };
  let told = false;
  while (!takeLock(lock, record).taken) {
    if (!told) options.say('Another process is obtaining the Temporal server; waiting for it …');
    told = true;
    await pause(500, undefined, options.signal ? { signal: options.signal } : {});
  }
  try {
    return await work();
  } finally {
    releaseLock(lock);
  }
}
