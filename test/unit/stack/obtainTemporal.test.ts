import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { StackError } from '../../../local/stack/stackError.ts';
import { cachedTemporal, obtainTemporal } from '../../../local/stack/temporal/obtainTemporal.ts';

const NEW_ENOUGH = 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)';
const TOO_OLD = 'temporal version 1.7.0 (Server 1.30.1, UI 2.40.0)';

let folder: string;
let said: string[];
const servers: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cfe-obtain-'));
  said = [];
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  rmSync(folder, { recursive: true, force: true });
});

/** An executable shell script, and the folder it lies in. */
function aProgram(name: string, body: string, where = 'bin'): string {
  mkdirSync(join(folder, where), { recursive: true });
  const file = join(folder, where, name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

const prints = (text: string): string => `echo '${text}'`;

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/cli/archive/v1.8.2`;
}

/** An address at which nothing listens. */
async function nowhere(): Promise<string> {
  const address = await serve(() => undefined);
  const server = servers.pop();
  await new Promise((done) => server?.close(done));
  return address;
}

const variables = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: [join(folder, 'bin'), '/usr/bin', '/bin'].join(':'),
  XDG_CACHE_HOME: join(folder, 'cache'),
  ...more,
});

const obtain = (more: Record<string, string> = {}) =>
  obtainTemporal({ variables: variables(more), say: (line) => said.push(line) });

/** A release archive with one program in it. */
function anArchive(body: string): Buffer {
  aProgram('temporal', body, 'release');
  return execFileSync('tar', ['-czf', '-', '-C', join(folder, 'release'), 'temporal']);
}

const sha256 = (archive: Buffer): string => createHash('sha256').update(archive).digest('hex');

describe('the order in which a Temporal server is looked for', () => {
  test('TEMPORAL_CLI_PATH comes before the PATH', async () => {
    const named = aProgram('my-temporal', prints(NEW_ENOUGH), 'elsewhere');
    aProgram('temporal', prints(NEW_ENOUGH));

    expect(await obtain({ TEMPORAL_CLI_PATH: named })).toEqual({ path: named, from: 'TEMPORAL_CLI_PATH' });
  });

  test('a TEMPORAL_CLI_PATH that is too old, or no program, is an error that names the variable', async () => {
    const old = aProgram('old', prints(TOO_OLD));

    await expect(obtain({ TEMPORAL_CLI_PATH: old })).rejects.toThrow(
      /^TEMPORAL_CLI_PATH names .*old, which is too old/,
    );
    await expect(obtain({ TEMPORAL_CLI_PATH: '/nowhere/temporal' })).rejects.toThrow(
      /TEMPORAL_CLI_PATH .* cannot be run/,
    );
  });

  test('a temporal on the PATH is used when it is new enough, and passed over with a word when it is not', async () => {
    aProgram('temporal', prints(TOO_OLD));
    const second = aProgram('temporal', prints(NEW_ENOUGH), 'bin2');

    const got = await obtain({
      PATH: [join(folder, 'bin'), join(folder, 'bin2'), '/usr/bin', '/bin'].join(':'),
    });

    expect(got).toEqual({ path: second, from: 'PATH' });
    expect(said).toEqual([expect.stringContaining('is too old (temporal version 1.7.0')]);
  });

  test('what an earlier run brought into the cache is used without asking anybody', async () => {
    const cached = cachedTemporal(variables());
    aProgram('temporal-1.8.2', prints(NEW_ENOUGH), 'cache/cfe');

    expect(await obtain()).toEqual({ path: cached, from: 'cache' });
    expect(said).toEqual([]);
  });

  test('then the archive is downloaded for this machine, unpacked, tried and kept in the cache', async () => {
    const archive = anArchive(prints(NEW_ENOUGH));
    const asked: (string | undefined)[] = [];
    const address = await serve((request, response) => {
      asked.push(request.url);
      if (request.url?.startsWith('/moved')) response.end(archive);
      else response.writeHead(302, { location: '/moved' }).end();
    });

    const got = await obtain({ CFE_TEMPORAL_DOWNLOAD_URL: address, CFE_TEMPORAL_SHA256: sha256(archive) });

    expect(got).toEqual({ path: cachedTemporal(variables()), from: 'download' });
    const architecture = process.arch === 'x64' ? 'amd64' : 'arm64';
    expect(asked).toEqual([
      `/cli/archive/v1.8.2?platform=${process.platform}&arch=${architecture}`,
      '/moved',
    ]);
    expect(readdirSync(join(folder, 'cache/cfe'))).toEqual(['temporal-1.8.2', 'temporal.lock']);
  });

  test.each([
    ['holds no program', () => Buffer.from('not an archive'), /cannot be unpacked/],
    ['holds a program that does not run', () => anArchive('exit 1'), /does not run on this machine/],
    ['holds a program that is too old', () => anArchive(prints(TOO_OLD)), /too old/],
  ])('an archive that %s is not kept', async (_, archive, words) => {
    const body = archive();
    const address = await serve((_request, response) => response.end(body));

    const more = { CFE_TEMPORAL_DOWNLOAD_URL: address, CFE_TEMPORAL_SHA256: sha256(body) };
    await expect(obtain(more)).rejects.toThrow(StackError);

    expect(said.join('\n')).toMatch(words);
    expect(existsSync(cachedTemporal(variables()))).toBe(false);
  });

  test('an archive that is not the pinned one is neither unpacked nor run, from whatever address', async () => {
    const archive = anArchive(`touch ${join(folder, 'ran')}; ${prints(NEW_ENOUGH)}`);
    const address = await serve((_request, response) => response.end(archive));

    const failure = obtain({ CFE_TEMPORAL_DOWNLOAD_URL: address });

    await expect(failure).rejects.toThrow(
      new RegExp(`not the one that is pinned \\(SHA-256 [0-9a-f]{64}\\), but ${sha256(archive)}`),
    );
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(existsSync(cachedTemporal(variables()))).toBe(false);
  });

  test('where nobody answers, that is known within 3 s', async () => {
    const address = await serve(() => undefined);

    await expect(obtain({ CFE_TEMPORAL_DOWNLOAD_URL: address })).rejects.toThrow(StackError);

    expect(said.join('\n')).toMatch(/did not answer within 3 s/);
  });

  test('then it is built by Go, with the command that was tried, under another name until it runs', async () => {
    aProgram(
      'go',
      [
        'if [ "$1" = version ]; then echo "go version go1.26.8 linux/amd64"; exit; fi',
        `echo "$PWD|$GOFLAGS|$CGO_ENABLED|$GOTOOLCHAIN|$*" > ${join(folder, 'asked')}`,
        'while [ "$1" != -o ]; do shift; done',
        `printf '#!/bin/sh\\necho "temporal version 0.0.0-DEV (Server 1.31.2, UI 2.50.1)"\\n' > "$2"; chmod 755 "$2"`,
      ].join('\n'),
    );

    const got = await obtain({ CFE_TEMPORAL_DOWNLOAD_URL: await nowhere() });

    const target = cachedTemporal(variables());
    expect(got).toEqual({ path: target, from: 'build' });
    expect(readFileSync(join(folder, 'asked'), 'utf8').trim()).toBe(
      `${join(process.cwd(), 'tools/temporal')}|-mod=readonly|0|local|build -trimpath -ldflags -s -w -o ${target}.${process.pid}.part github.com/temporalio/cli/cmd/temporal`,
    );
    expect(readdirSync(join(folder, 'cache/cfe'))).toEqual(['temporal-1.8.2', 'temporal.lock']);
  });

  test('an older Go from 1.21 on may fetch the toolchain it needs; one before that is no Go for us', async () => {
    const go = (version: string): string =>
      aProgram(
        'go',
        `if [ "$1" = version ]; then echo "go version go${version} linux/amd64"; exit; fi\necho "$GOTOOLCHAIN" > ${join(folder, 'asked')}; exit 1`,
      );
    const address = await nowhere();

    go('1.21.0');
    await expect(obtain({ CFE_TEMPORAL_DOWNLOAD_URL: address })).rejects.toThrow(/could not be built/);
    expect(readFileSync(join(folder, 'asked'), 'utf8').trim()).toBe('auto');
    go('1.20.14');
    await expect(obtain({ CFE_TEMPORAL_DOWNLOAD_URL: address })).rejects.toThrow(
      /none can be downloaded or built/,
    );
  });

  test('a build that fails shows its last words and leaves nothing that could be used', async () => {
    aProgram(
      'go',
      'if [ "$1" = version ]; then echo "go version go1.26.4 linux/amd64"; exit; fi\necho "dial tcp: no such host" >&2; exit 1',
    );

    await expect(obtain({ CFE_TEMPORAL_DOWNLOAD_URL: await nowhere() })).rejects.toThrow(
      /could not be built:\ndial tcp: no such host/,
    );

    expect(readdirSync(join(folder, 'cache/cfe'))).toEqual(['temporal-1.8.2.build.log', 'temporal.lock']);
  });

  test('with no way left the message tells every way there is', async () => {
    const failure = obtain({ CFE_TEMPORAL_DOWNLOAD_URL: await nowhere() });

    await expect(failure).rejects.toThrow(StackError);
    for (const word of ['CFE_TEMPORAL_DOWNLOAD_URL', 'TEMPORAL_CLI_PATH', 'Go 1.26.4', 'TEMPORAL_ADDRESS']) {
      await expect(failure).rejects.toThrow(word);
    }
  });

  test('two at once bring it once', async () => {
    const archive = anArchive(prints(NEW_ENOUGH));
    let downloads = 0;
    const address = await serve((_request, response) => {
      downloads++;
      response.end(archive);
    });

    const got = await Promise.all([
      obtain({ CFE_TEMPORAL_DOWNLOAD_URL: address, CFE_TEMPORAL_SHA256: sha256(archive) }),
      obtain({ CFE_TEMPORAL_DOWNLOAD_URL: address, CFE_TEMPORAL_SHA256: sha256(archive) }),
    ]);

    expect(got.map(({ from }) => from).sort()).toEqual(['cache', 'download']);
    expect(downloads).toBe(1);
  });
});
