import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readConfig } from '../../../src/config.ts';
import { ownMark, readLock, releaseLock, rewriteLock, takeLock } from '../../../src/stack/fileLock.ts';
import { openAuthority } from '../../../src/stack/localAuthority.ts';
import { markOf } from '../../../src/stack/processes.ts';
import { programEnvironment } from '../../../src/stack/programs.ts';
import { keepSecrets, openSecrets } from '../../../src/stack/secrets.ts';
import { StackError } from '../../../src/stack/stackError.ts';
import {
  lockFileOf,
  runningStack,
  type StackInfo,
  stackFileOf,
  writeStackFile,
} from '../../../src/stack/stackFile.ts';

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

    expect(() => openSecrets(dataDir)).toThrow(/secrets\.json is gone, but the database .* is there/);
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
      postgres: 4,
      temporal: 5,
      temporalUi: 6,
      simulator: 7,
    };
    const environment = programEnvironment({
      environment: { CFE_POLL_LONGEST_SECONDS: '3', CFE_PEPPER: 'not this one' },
      dataDir,
      secrets,
      ports,
      databaseUrl: 'postgres://cfe:x@127.0.0.1:4/cfe',
      temporalAddress: '127.0.0.1:5',
      temporalNamespace: 'default',
      simulatorUrl: 'http://127.0.0.1:7',
      apiUrl: 'http://127.0.0.1:1',
    });

    const read = readConfig(
      [
        'CFE_KEY_ENCRYPTION_KEYS',
        'CFE_PEPPER',
        'CFE_TOKEN_KEYS',
        'CFE_POLL_LONGEST_SECONDS',
        'CFE_DGI_SANDBOX_RECEPTION_URL',
        'CFE_DATA_DIR',
      ],
      environment,
    );
    expect(read.CFE_KEY_ENCRYPTION_KEYS).toHaveLength(1);
    expect(read.CFE_PEPPER).toEqual(Buffer.from(secrets.pepper, 'base64'));
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

describe('the lock of a data folder', () => {
  test('is refused while its holder lives', () => {
    const file = lockFileOf(dataDir);
    const holder = ownMark();

    expect(takeLock(file, { holder })).toEqual({ taken: true, left: undefined });
    expect(takeLock(file, { holder })).toEqual({ taken: false, held: { holder } });
    releaseLock(file);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('is taken over from a dead holder, with what it left', async () => {
    const file = lockFileOf(dataDir);
    const left = { holder: await someoneDead(), guard: await someoneDead(), parts: [] };
    rewriteLock(file, left);

    expect(takeLock(file, { holder: ownMark(), parts: [] })).toEqual({ taken: true, left });
    expect(readLock(file)).toEqual({ holder: ownMark(), parts: [] });
  });

  test('a number that another process was given since does not keep it', () => {
    const file = lockFileOf(dataDir);
    rewriteLock(file, { holder: { pid: process.pid, startedAt: 'another time' } });

    expect(takeLock(file, { holder: ownMark() }).taken).toBe(true);
  });
});

describe('stack.json', () => {
  const info = { base_url: 'http://127.0.0.1:3000/v1', pids: { supervisor: process.pid } } as StackInfo;

  test('is for its owner only, and believed while the supervisor it names holds the folder', () => {
    takeLock(lockFileOf(dataDir), { holder: ownMark(), parts: [] });
    writeStackFile(dataDir, info);

    expect(modeOf(stackFileOf(dataDir))).toBe('600');
    expect(runningStack(dataDir)).toEqual(info);
  });

  test('is not believed when its supervisor is dead, or when there is none', async () => {
    writeStackFile(dataDir, info);
    expect(runningStack(dataDir)).toBeUndefined();

    rewriteLock(lockFileOf(dataDir), { holder: await someoneDead() });
    expect(runningStack(dataDir)).toBeUndefined();
  });
});
