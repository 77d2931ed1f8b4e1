import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cachedTemporal } from '../../../local/stack/temporal/obtainTemporal.ts';

/** Where all that is made once lies, outside of every checkout. */
export const CACHE = join(dirname(cachedTemporal(process.env)), 'containers');

export type Say = (line: string) => void;

/**
 * The folder of the cache called `name`, made by `make` when it is not there. It is written under another name and
 * renamed at the end: what was broken off is never used.
 */
export async function cached(
  name: string,
  say: Say,
  make: (folder: string) => Promise<void> | void,
): Promise<string> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  const written = `${folder}.${process.pid}.part`;
  const startedAt = performance.now();
  say(`making ${name}, once …`);
  mkdirSync(written, { recursive: true });
  try {
    await make(written);
    renameSync(written, folder);
  } finally {
    rmSync(written, { recursive: true, force: true });
  }
  say(`made ${name} in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  return folder;
}

/** A short name for what the files hold and the words say; another content is another name. */
export function fingerprint(folder: string, ...words: string[]): string {
  const hash = createHash('sha256').update(words.join('\n'));
  for (const file of globSync('**/*', { cwd: folder }).toSorted()) {
    const path = join(folder, file);
    if (statSync(path).isFile()) hash.update(`\n${file}\n`).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 12);
}

/** Runs a program to its end; what it says on standard output. Throws with its last words where it fails. */
export function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 256e6,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  if (error) throw error;
  if (status === 0) return stdout;
  const words = [program, ...args].join(' ').slice(0, 200);
  throw new Error(`${words} ended with ${status}: ${`${stdout}${stderr}`.trim().slice(-2_000)}`);
}
