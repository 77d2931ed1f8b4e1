/**
 * The Temporal version that the project needs, and whether a program is new enough
 * (docs/local.md#where-temporal-comes-from).
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isAtLeast, versionIn } from './versions.ts';

export const TEMPORAL_CLI_VERSION = '1.8.2';
/**
 * SHA-256 of the release's archive for each platform, as its `checksums.txt` lists them. A new version has new ones: the
 * old do not fit it.
 */
export const TEMPORAL_ARCHIVE_SHA256: Readonly<Record<string, string>> = {
  'linux/amd64': 'd8421bda989e6514b4bdb4d63a9012a8a05a806892e881a5aad8510496349a94',
  'linux/arm64': '83600a8fac6e3da54093e5da6918d399f501532b9f1172235603f9606f4ac6e4',
  'darwin/amd64': '489d7f5420cae02b559774ac23df035141954c33a51dba96f5759a0ddccdf1b6',
  'darwin/arm64': 'dacdc3587682c04cf27e67c8878ca2d755230b6ad63c0c6ebddd7348ae90ed94',
};

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
