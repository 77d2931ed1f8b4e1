/** Downloading the pinned release of the Temporal server. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { longStep, type Say } from '../processes/progress.ts';
import { TEMPORAL_ARCHIVE_SHA256, temporalVersion } from './temporalRelease.ts';

/**
 * Where there is no way out to the internet, this is how long it takes to find out
 * (docs/local.md#where-temporal-comes-from).
 */
const FIRST_ANSWER_WITHIN_MS = 3_000;
const SILENCE_AT_MOST_MS = 30_000;

const PLATFORMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin' };
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** This machine, as the archives are named. */
const platform = PLATFORMS[process.platform] ?? process.platform;
const architecture = ARCHITECTURES[process.arch] ?? process.arch;

/** The archive's URL for this machine; `base` is the URL without the query. */
function archiveAddress(base: string): string {
  const address = new URL(base);
  address.searchParams.set('platform', platform);
  address.searchParams.set('arch', architecture);
  return address.href;
}

/** The SHA-256 that the archive for this machine must have: the one given, else the one pinned. Throws where there is none. */
function expectedDigest(given: string | undefined): string {
  const expected = given ?? TEMPORAL_ARCHIVE_SHA256[`${platform}/${architecture}`];
  if (expected === undefined) throw new Error(`no SHA-256 is pinned for ${platform}/${architecture}`);
  return expected;
}

/**
 * Downloads the archive, compares its SHA-256 (`sha256`, where one is given, else the pinned one), unpacks it beside
 * `target`, makes sure that the program runs and is new enough, and only then renames it. Throws an Error that says what went wrong, having left nothing behind.
 */
export async function downloadTemporal(options: {
  base: string;
  target: string;
  sha256?: string | undefined;
  say: Say;
  signal?: AbortSignal;
}): Promise<void> {
  const { target, say } = options;
  const expected = expectedDigest(options.sha256);
  const folder = await mkdtemp(join(dirname(target), 'download-'));
  try {
    const response = await open(archiveAddress(options.base), options.signal);
    let received = 0;
    const total = Number(response.headers.get('content-length') ?? 0);
    const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
    const archive = join(folder, 'archive.tar.gz');
    await longStep(
      {
        say,
        title: 'Downloading the Temporal server',
        usually: 'under a minute',
        everySeconds: 3,
        state: () => `${megabytes(received)}${total > 0 ? ` of ${megabytes(total)}` : ''} MB`,
      },
      () => save(response, archive, (bytes) => (received += bytes)),
    );
    await compare(archive, expected);
    await promisify(execFile)('tar', ['-xzf', archive, '-C', folder, 'temporal']).catch(() => {
      throw new Error('the archive cannot be unpacked, or holds no program named temporal');
    });
    const program = join(folder, 'temporal');
    await chmod(program, 0o755);
    const version = await temporalVersion(program);
    if (!version) throw new Error('the downloaded program does not run on this machine');
    if (!version.newEnough) throw new Error(`the downloaded program is too old (${version.said})`);
    await rename(program, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Nothing of an archive is unpacked or run before it is known to be the one that was released. */
async function compare(archive: string, expected: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(archive), hash);
  const found = hash.digest('hex');
  if (found !== expected)
    throw new Error(`the archive is not the one that is pinned (SHA-256 ${expected}), but ${found}`);
}

async function open(address: string, signal: AbortSignal | undefined): Promise<Response> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), FIRST_ANSWER_WITHIN_MS);
  try {
    const response = await fetch(address, {
      signal: signal ? AbortSignal.any([signal, patience.signal]) : patience.signal,
    });
    if (response.ok) return response;
    await response.body?.cancel();
    throw new Error(`${new URL(address).host} answered ${response.status}`);
  } catch (error) {
    if (patience.signal.aborted)
      throw new Error(`${new URL(address).host} did not answer within 3 s`, { cause: error });
    if (error instanceof TypeError)
      throw new Error(`${new URL(address).host} cannot be reached`, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function save(response: Response, file: string, onBytes: (count: number) => void): Promise<void> {
  if (!response.body) throw new Error('the response was empty');
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_AT_MOST_MS);
  const source = Readable.fromWeb(response.body);
  source.on('data', (chunk: Buffer) => {
    onBytes(chunk.length);
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_AT_MOST_MS);
  });
  try {
    await pipeline(source, createWriteStream(file), { signal: silence.signal });
  } catch (error) {
    throw new Error(silence.signal.aborted ? 'the download stalled for 30 s' : 'the download was cut off', {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}
