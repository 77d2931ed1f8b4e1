import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readConfig } from '../../../local/config.ts';
import { openAuthority } from '../../../local/stack/localAuthority.ts';
import { takeLock } from '../../../local/stack/processes/fileLock.ts';
import { isRunning, markOf } from '../../../local/stack/processes/processes.ts';
import { openRun } from '../../../local/stack/processes/run.ts';
import { readRunRecord, writeRunRecord } from '../../../local/stack/processes/runRecord.ts';
import { programVariables } from '../../../local/stack/programs.ts';
import { keepSecrets, openSecrets } from '../../../local/stack/secrets.ts';
import { StackError } from '../../../local/stack/stackError.ts';
import { runningStack, type StackInfo, stackFileOf, writeStackFile } from '../../../local/stack/stackFile.ts';
import { sealingKeyOf } from '../../../src/crypto/sealed.ts';
import { pepperVariable } from '../../support/database/pepper.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'cfe-data-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);

/** A process that has ended: its mark is that of nobody. */
async function someoneDead() {
  const child = spawn('sleep', ['60']);
  const mark = markOf(child.pid ?? 0) ?? { pid: 0, startedAt: '' };
  child.kill('SIGKILL');
  await new Promise((done) => child.once('exit', done));
  return mark;
}

describe('secrets.json', () => {
  test('is made once, for its owner only, and is the same ever after', () => {
    const first = openSecrets(dataDir);
    keepSecrets(dataDir, { ...first.secrets, live_api_key: 'a', test_api_key: 'b' });

    expect(first.made).toBe(true);
    expect(modeOf(join(dataDir, 'secrets.json'))).toBe('600');
    expect(openSecrets(dataDir)).toEqual({
      made: false,
      secrets: { ...first.secrets, live_api_key: 'a', test_api_key: 'b' },
    });
  });

  test('lost while the database stays is a clear error, not new secrets', () => {
    mkdirSync(join(dataDir, 'postgres'));
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '18\n');

    expect(() => openSecrets(dataDir)).toThrow(/secrets\.json is missing, but the database .* needs it/);
    expect(readdirSync(dataDir)).toEqual(['postgres']);
  });

  test('a damaged file is a clear error that quotes nothing of it', () => {
    writeFileSync(join(dataDir, 'secrets.json'), '{"pepper": "hush"');

    expect(() => openSecrets(dataDir)).toThrow(StackError);
    expect(() => openSecrets(dataDir)).not.toThrow(/hush/);
  });

  test('hold what the programs ask of them', () => {
    const { secrets } = openSecrets(dataDir);
    const ports = {
      api: 1,
      metrics: 2,
      workerMetrics: 3,
      console: 8,
      consoleMetrics: 9,
      postgres: 4,
      temporal: 5,
      temporalUi: 6,
      simulator: 7,
      smtp: 8,
    };
    const settings = {
      variables: { CFE_POLL_LONGEST_SECONDS: '3', CFE_PEPPER: 'not this one' },
      dataDir,
      secrets,
      ports,
      databaseUrl: () => 'postgres://cfe_api:x@127.0.0.1:4/cfe',
      temporalAddress: '127.0.0.1:5',
      temporalNamespace: 'default',
      simulatorUrl: 'http://127.0.0.1:7',
      smtpUrl: 'smtp://127.0.0.1:8',
      apiUrl: 'http://127.0.0.1:1',
      consoleUrl: 'http://127.0.0.1:8',
    };

    const read = readConfig(
      [
        'CFE_SEALING_KEY',
        'CFE_PEPPER',
        'CFE_TOKEN_KEYS',
        'CFE_POLL_LONGEST_SECONDS',
        'CFE_DGI_SANDBOX_RECEPTION_URL',
        'CFE_DATA_DIR',
      ],
      programVariables('api', settings),
    );
    const { CFE_KEY_ENCRYPTION_KEYS: keys } = readConfig(
      ['CFE_KEY_ENCRYPTION_KEYS'],
      programVariables('worker', settings),
    );
    expect(keys).toHaveLength(1);
    expect(sealingKeyOf(keys[0])).toEqual(read.CFE_SEALING_KEY);
    expect(pepperVariable(...read.CFE_PEPPER)).toBe(secrets.pepper);
    expect(read.CFE_TOKEN_KEYS[0]?.kid).toMatch(/^local-/);
    expect(read.CFE_POLL_LONGEST_SECONDS).toBe(3);
    expect(read.CFE_DGI_SANDBOX_RECEPTION_URL).toBe('http://127.0.0.1:7/sandbox/ws_efactura');
    expect(read.CFE_DATA_DIR).toBe(dataDir);
  });
});

describe("the local stack's certificate authority", () => {
  test('is made once; its key is for its owner only', async () => {
    const files = await openAuthority(dataDir);
    const pem = readFileSync(files.certificate, 'utf8');

    expect(await openAuthority(dataDir)).toEqual(files);
    expect(readFileSync(files.certificate, 'utf8')).toBe(pem);
    expect(modeOf(files.key)).toBe('600');
    const certificate = new X509Certificate(pem);
    expect(certificate.ca).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });
});

describe('a file lock', () => {
  const LOCK = join(import.meta.dirname, '../../../local/stack/processes/fileLock.ts');
  /** A process that tries to take the lock, says whether it has it, and stays. */
  async function taker(file: string) {
    const script = `const { takeLock } = await import(${JSON.stringify(LOCK)});
      const lock = takeLock(${JSON.stringify(file)}); console.log(lock ? 'taken' : 'refused'); setInterval(() => lock, 60_000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const said = await new Promise<string>((done) =>
      child.stdout.once('data', (chunk) => done(String(chunk))),
    );
    const exited = new Promise((done) => child.once('exit', done));
    const kill = () => {
      child.kill('SIGKILL');
      return exited;
    };
    return { said: said.trim(), kill };
  }

  test('is refused while it is held, by this process too, and free once it is released', () => {
    const file = join(dataDir, 'lock');
    const lock = takeLock(file);

    expect(takeLock(file)).toBeUndefined();
    lock?.release();
    const again = takeLock(file);
    expect(again).toBeDefined();
    again?.release();
  });

  test('goes to one of several that come at once, and to the next as soon as that one is killed', async () => {
    const file = join(dataDir, 'lock');
    const takers = await Promise.all([taker(file), taker(file), taker(file), taker(file)]);
    try {
      expect(takers.map(({ said }) => said).sort()).toEqual(['refused', 'refused', 'refused', 'taken']);
      expect(takeLock(file)).toBeUndefined();
      await takers.find(({ said }) => said === 'taken')?.kill();
      const lock = takeLock(file);
      expect(lock).toBeDefined();
      lock?.release();
    } finally {
      await Promise.all(takers.map(({ kill }) => kill()));
    }
  });
});

describe('a run of the stack', () => {
  const say = (): void => undefined;

  test('is the only one of its data folder, and leaves no record when it is closed', async () => {
    const run = await openRun(dataDir, say);

    expect(readRunRecord(dataDir)?.holder).toEqual(markOf(process.pid));
    await expect(openRun(dataDir, say)).rejects.toThrow(`by process ${process.pid}`);
    run.close();
    expect(readRunRecord(dataDir)).toBeUndefined();
  });

  test('ends what a killed one left behind, and nobody who has its number by now', async () => {
    const [left, stranger] = [spawn('sleep', ['60']), spawn('sleep', ['60'])];
    const ours = markOf(left.pid ?? 0) ?? (await someoneDead());
    const theirs = markOf(stranger.pid ?? 0) ?? (await someoneDead());
    const plan = [{ signal: 'SIGTERM', graceMs: 2_000 }] as const;
    writeRunRecord(dataDir, {
      holder: { pid: process.pid, startedAt: 'another time' },
      watchdog: await someoneDead(),
      parts: [ours, { ...theirs, startedAt: 'another time' }].map((mark) => ({ mark, plan, order: 0 })),
    });
    try {
      const run = await openRun(dataDir, say);
      expect([ours, theirs].map(isRunning)).toEqual([false, true]);
      expect(readRunRecord(dataDir)?.parts).toEqual([]);
      run.close();
    } finally {
      stranger.kill('SIGKILL');
    }
  });
});

describe('stack.json', () => {
  const info = { base_url: 'http://127.0.0.1:3000/v1', pids: { supervisor: process.pid } } as StackInfo;

  test('is for its owner only, and believed while the supervisor it names holds the folder', () => {
    writeRunRecord(dataDir, { holder: markOf(process.pid) ?? { pid: 0, startedAt: '' } });
    writeStackFile(dataDir, info);

    expect(modeOf(stackFileOf(dataDir))).toBe('600');
    expect(runningStack(dataDir)).toEqual(info);
  });

  test('is not believed when its supervisor is dead, or when there is none', async () => {
    writeStackFile(dataDir, info);
    expect(runningStack(dataDir)).toBeUndefined();

    writeRunRecord(dataDir, { holder: await someoneDead() });
    expect(runningStack(dataDir)).toBeUndefined();
  });
});
