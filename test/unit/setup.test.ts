import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const { explainFailure, sameAsLocked, stampOf, unsupported } = (await import(
  pathToFileURL(join(PROJECT, 'tools/setup.mjs')).href
)) as {
  explainFailure: (output: string) => string;
  sameAsLocked: (lock: object, installed: object) => boolean;
  stampOf: (lock: string, platform?: string, arch?: string) => string;
  unsupported: (machine: {
    platform: string;
    arch: string;
    musl: boolean;
    nodeVersion: string;
  }) => string | undefined;
};

describe('a machine that cannot run the project is told so before anything is installed', () => {
  const machine = { platform: 'linux', arch: 'x64', musl: false, nodeVersion: '20.20.2' };

  test.each([
    [{ nodeVersion: '18.19.0' }, /Node 18\.19\.0 is too old: install Node 20 or later/],
    [{ platform: 'win32' }, /WSL 2/],
    [{ platform: 'freebsd' }, /freebsd-x64/],
    [{ arch: 'ia32' }, /linux-ia32/],
    [{ musl: true }, /musl/],
  ])('%j', (difference, words) => {
    expect(unsupported({ ...machine, ...difference })).toMatch(words);
  });

  test.each([{}, { arch: 'arm64' }, { platform: 'darwin', arch: 'arm64' }, { nodeVersion: '26.0.0' }])(
    '%j is fine',
    (difference) => {
      expect(unsupported({ ...machine, ...difference })).toBeUndefined();
    },
  );
});

describe('what a failed installation is put down to', () => {
  test.each([
    ['npm error code ENOSPC', /disk is full/],
    [
      'npm error network request to https://… failed, reason: getaddrinfo ENOTFOUND host',
      /registry cannot be reached/,
    ],
    ['npm error code EUSAGE', /git checkout package\.json package-lock\.json/],
    ['npm error code EACCES', /may not write to/],
    ['npm error something new', /could not install/],
  ])('%s', (output, words) => {
    expect(explainFailure(output)).toMatch(words);
  });
});

describe('packages that npm has noted as installed', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0', integrity: 'x' },
      'node_modules/other': { version: '2.0.0', optional: true },
    },
  };
  const a = { version: '1.0.0', integrity: 'x' };

  test.each([
    ['are those of the lock file', { 'node_modules/a': a }, true],
    ['lack one', {}, false],
    ['hold another version', { 'node_modules/a': { ...a, version: '1.0.1' } }, false],
    ['hold one that the lock file does not know', { 'node_modules/a': a, 'node_modules/b': a }, false],
  ])('%s', (_, packages, same) => {
    expect(sameAsLocked(lock, { packages })).toBe(same);
  });

  test('the stamp tells lock files and machines apart', () => {
    const stamps = [
      stampOf('a', 'linux', 'x64'),
      stampOf('b', 'linux', 'x64'),
      stampOf('a', 'linux', 'arm64'),
    ];

    expect(new Set(stamps).size).toBe(3);
  });
});

describe('setting up a checkout', () => {
  let checkout: string;

  /** An npm that notes how it was called, and installs a Node by a link. */
  const installs = `import fs from 'node:fs';
    fs.appendFileSync('calls', process.argv.slice(2, 3) + ' ' + (process.execPath.includes('node_modules') ? 'inner' : 'outer') + '\\n');
    fs.rmSync('node_modules', { recursive: true, force: true });
    fs.mkdirSync('node_modules/.bin', { recursive: true });
    fs.symlinkSync(${JSON.stringify(realpathSync(process.execPath))}, 'node_modules/.bin/node');`;

  const anNpm = (body: string): void => {
    mkdirSync(join(checkout, 'bin'), { recursive: true });
    writeFileSync(join(checkout, 'bin/npm'), `#!/usr/bin/env node\n${body}\n`);
    chmodSync(join(checkout, 'bin/npm'), 0o755);
  };

  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), 'cfe-checkout-'));
    for (const folder of ['tools', 'local/stack/processes', 'bin'])
      mkdirSync(join(checkout, folder), { recursive: true });
    for (const file of ['tools/setup.mjs', 'local/stack/processes/endWithLauncher.ts'])
      copyFileSync(join(PROJECT, file), join(checkout, file));
    writeFileSync(join(checkout, 'package.json'), '{"type":"module"}');
    writeFileSync(join(checkout, 'package-lock.json'), '{"packages":{"":{}}}');
    writeFileSync(
      join(checkout, 'program.ts'),
      "const words: string[] = process.argv.slice(2);\nconsole.log('ran', ...words);\nprocess.exitCode = 5;\n",
    );
    // The system's Node, as the checkout sees it: a name outside its node_modules.
    copyFileSync(realpathSync(process.execPath), join(checkout, 'bin/node'));
  });
  afterEach(() => rmSync(checkout, { recursive: true, force: true }));

  const setUp = async (
    args: readonly string[] = ['program.ts'],
    heard: (said: string) => void = () => undefined,
  ): Promise<{ code: number | null; out: string; err: string }> => {
    const child = spawn(join(checkout, 'bin/node'), [join(checkout, 'tools/setup.mjs'), ...args], {
      cwd: '/',
      env: { PATH: [join(checkout, 'node_modules/.bin'), join(checkout, 'bin')].join(':'), TMPDIR: tmpdir() },
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
      heard(err);
    });
    const code = await new Promise<number | null>((done) => child.once('close', done));
    return { code, out, err };
  };
  const calls = (): string[] =>
    existsSync(join(checkout, 'calls'))
      ? readFileSync(join(checkout, 'calls'), 'utf8').trim().split('\n')
      : [];

  test('installs from the lock file with the outer Node, once, and then hands over with arguments and exit code', async () => {
    anNpm(installs);

    const first = await setUp(['program.ts', 'one', 'two words']);
    const second = await setUp();

    expect(first).toEqual({
      code: 5,
      out: 'ran one two words\n',
      err: expect.stringMatching(/^Installing the packages [^]*done in \d+ s\n$/),
    });
    expect(second).toEqual({ code: 5, out: 'ran\n', err: '' });
    expect(calls()).toEqual(['ci outer']);
  });

  test('installs again when the lock file has changed', async () => {
    anNpm(installs);
    await setUp();
    writeFileSync(
      join(checkout, 'package-lock.json'),
      '{"packages":{"":{},"node_modules/a":{"version":"1.0.0"}}}',
    );

    expect((await setUp()).code).toBe(5);
    expect(calls()).toEqual(['ci outer', 'ci outer']);
  });

  test('takes packages that somebody else installed from this lock file', async () => {
    anNpm(installs);
    mkdirSync(join(checkout, 'node_modules'));
    writeFileSync(join(checkout, 'node_modules/.package-lock.json'), '{"packages":{}}');

    expect(await setUp()).toEqual({ code: 5, out: 'ran\n', err: '' });
    expect(calls()).toEqual([]);
  });

  test('says what to do when packages cannot be had, and begins anew the next time', async () => {
    anNpm("console.error('npm error code ENOTFOUND'); process.exit(1);");
    const failed = await setUp();
    anNpm(installs);

    expect(failed.code).toBe(1);
    expect(failed.err).toMatch(/The package registry cannot be reached\. [^]*npm error code ENOTFOUND/);
    expect((await setUp()).code).toBe(5);
  });

  test('two at once install once', async () => {
    // It goes on when the other has said that it waits.
    anNpm(`${installs}\nwhile (!fs.existsSync('go')) await new Promise((done) => setTimeout(done, 50));`);
    const first = setUp();
    await until('npm', 10, async () => calls().length === 1);
    const go = (said: string): void => {
      if (said.includes('waiting for it')) writeFileSync(join(checkout, 'go'), '');
    };

    const both = await Promise.all([first, setUp(['program.ts'], go)]);

    expect(both.map(({ code }) => code)).toEqual([5, 5]);
    expect(calls()).toHaveLength(1);
  });

  test('npm that is not there is named', async () => {
    const { code, err } = await setUp();

    expect(code).toBe(1);
    expect(err).toMatch(/^npm is not on the PATH\. Install Node with npm/);
  });
});
