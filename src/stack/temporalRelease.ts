/**
 * The Temporal version that the project needs, and whether a program is new enough
 * (docs/stack.md#where-temporal-comes-from).
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isAtLeast, versionIn } from './versions.ts';

export const TEMPORAL_CLI_VERSION = '1.8.2';
const LEAST_CLI = [1, 8, 2];
const LEAST_SERVER = [1, 31, 2];

/** The version a `temporal` program prints, and whether it is new enough. */
export interface TemporalVersion {
  readonly said: string;
  readonly newEnough: boolean;
}

/**
 * Judges the output of `temporal --version`. A program built without a version flag calls itself 0.0.0-DEV, but knows
 * the version of the server inside it, which is what counts.
 *
 * @internal exported for tests
 */
export function judgeTemporalVersion(printed: string): TemporalVersion {
  const said = printed.trim().split('\n')[0] ?? '';
  const server = /Server (\S+?)[,)]/.exec(said)?.[1];
  const newEnough = said.includes('0.0.0-DEV')
    ? isAtLeast(versionIn(server ?? ''), LEAST_SERVER)
    : isAtLeast(versionIn(said), LEAST_CLI);
  return { said, newEnough };
}

/** Runs `temporal --version`; undefined when the program cannot be run. */
export async function temporalVersion(path: string): Promise<TemporalVersion | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 });
    return judgeTemporalVersion(stdout);
  } catch {
    return undefined;
  }
}
