import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const CHECKOUT = join(import.meta.dirname, '../../..');
const READABLE = 0o755;
/** Longest wait for the packages: no test's own limit holds here, and npm itself waits on a silent registry for long. */
const INSTALL_MILLISECONDS = 180_000;
const SAID = 2_000;

/** What the image of the Dockerfile holds and says, made without a container engine. */
export interface Image {
  /** `/app` of the image. */
  folder: string;
  env: Record<string, string>;
  healthCheck: string[];
  command: string[];
}

/** One instruction of the Dockerfile, with the stage that it stands in, counted from 1; those of the simulator’s image are left out. */
interface Instruction {
  stage: number;
  word: string;
  rest: string;
}

function instructions(): Instruction[] {
  const lines = readFileSync(join(CHECKOUT, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter(Boolean);
  let stage = 0;
  let isOurs = true;
  return lines.flatMap((line) => {
    const [word = '', ...rest] = line.split(' ');
    if (word === 'FROM') {
      stage += 1;
      isOurs = !/ AS simulator/.test(line);
    }
    return isOurs ? [{ stage, word, rest: rest.join(' ') }] : [];
  });
}

/**
 * Does in a temporary folder what the Dockerfile does: copies what it copies and runs what its first stage runs, with
 * the packages from npm's cache where they are there. The caller removes `folder`. Rejects when npm cannot get them.
 */
export async function makeImage(): Promise<Image> {
  const folder = mkdtempSync(join(tmpdir(), 'cfe-image-'));
  chmodSync(folder, READABLE);
  try {
    return await fill({ folder, env: {}, healthCheck: [], command: [] });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

async function fill(image: Image): Promise<Image> {
  const { folder } = image;
  for (const { stage, word, rest } of instructions()) {
    if (word === 'COPY' && !rest.startsWith('--from=')) copy(rest.split(/\s+/), folder);
    if (word === 'RUN' && stage === 1) await runScript(rest, folder);
    if (word === 'ENV') {
      const [name = '', value = ''] = rest.split(/=(.*)/);
      image.env[name] = value.replaceAll('"', '').replace(/^\/app\b/, folder);
    }
    if (word === 'HEALTHCHECK') image.healthCheck = listIn(rest);
    if (word === 'CMD') image.command = listIn(rest);
  }
  return image;
}

/** Runs an instruction; what takes too long is killed with all that it started. Rejects with what it said last. */
async function runScript(script: string, folder: string): Promise<void> {
  const child = spawn('/bin/sh', ['-euc', script], {
    cwd: folder,
    // The Node of the image, not the one that npm may run on here.
    env: { ...npmEnvironment(), PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-SAID);
  });
  const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), INSTALL_MILLISECONDS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${script}: ${code ?? 'took too long'} ${said}`);
}

/**
 * The packages that are there already need no network. A registry or cache that npm was told of in a variable counts
 * here too; the folder of this run does not.
 */
function npmEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|npm_config_(local_)?prefix$|NODE_OPTIONS$)/i.test(name),
  );
  return {
    ...Object.fromEntries(own),
    npm_config_prefer_offline: 'true',
    npm_config_fetch_retries: '1',
    npm_config_fetch_retry_mintimeout: '1000',
  };
}

function copy(words: string[], folder: string): void {
  for (const name of words.slice(0, -1))
    cpSync(join(CHECKOUT, name), join(folder, name), { recursive: true });
}

const listIn = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];
