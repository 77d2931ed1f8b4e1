import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { imageNames, pinFile, resolveDigests, unpinned } from '../../../tools/supply/images.ts';

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../../..', file), 'utf8');
const names = imageNames(read('docker-compose.temporal.yml'), read('Dockerfile'));
const DIGEST = `sha256:${'5'.repeat(64)}`;

let server: Server | undefined;
afterEach(() => new Promise<void>((done) => (server ? server.close(() => done()) : done())));

/** A registry that wants a token, and tells digests as `digest` does. */
async function registry(
  digest: (path: string) => string | undefined,
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  let url = '';
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    if (path.startsWith('/token?')) return void response.end('{"token":"t"}');
    if (request.headers.authorization !== 'Bearer t') {
      const challenge = `Bearer realm="${url}/token",service="registry",scope="repository:x:pull"`;
      return void response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    const told = digest(path);
    return void response.writeHead(told ? 200 : 404, told ? { 'docker-content-digest': told } : {}).end();
  });
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked };
}

test('every image of others is asked for once, with a token, and named by its digest in a second compose file', async () => {
  const { url, asked } = await registry(() => DIGEST);

  const digests = await resolveDigests(names.all, url);
  const { services } = parse(pinFile(names, digests)) as {
    services: Record<string, { image?: string; build?: { additional_contexts: Record<string, string> } }>;
  };

  expect(names.all.length).toBeGreaterThan(4);
  expect(asked).toContain('/v2/library/postgres/manifests/18.4');
  expect(asked).toContain('/token?service=registry&scope=repository%3Ax%3Apull');
  expect(services['postgres']?.image).toBe(`postgres:18.4@${DIGEST}`);
  expect(services['temporal']?.image).toMatch(/^temporalio\/server:[\d.]+@sha256:5{64}$/);
  const [base = ''] = names.bases;
  expect(services['migrate']?.build?.additional_contexts[base]).toBe(`docker-image://${base}@${DIGEST}`);
});

test('images that no digest pins are named, so that the nightly run can say so', () => {
  const [first = '', ...others] = names.all;
  const pins = pinFile(names, new Map(names.all.map((name) => [name, DIGEST])));

  expect(unpinned(names, undefined)).toEqual(names.all);
  expect(unpinned(names, pins)).toEqual([]);
  // The version has moved on since they were pinned.
  expect(unpinned(names, pins.replaceAll(`${first}@`, `${first}.1@`))).toEqual([first]);
  expect(others.length).toBeGreaterThan(3);
});

test('every night asks for known vulnerabilities and fails where nobody can be asked', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  expect(scripts['test:nightly']?.split(' && ')).toEqual(
    expect.arrayContaining(['npm run images:pin -- --check', 'npm run vulnerabilities -- --must-run']),
  );
});

test.each([
  ['is not known', () => undefined, /answered 404 without a digest for postgres:18.4/],
  ['has a digest that is none', () => 'sha256:5', /answered 200 without a digest/],
])('one that %s pins nothing', async (_, digest, words) => {
  await expect(resolveDigests(['postgres:18.4'], (await registry(digest)).url)).rejects.toThrow(words);
});

test('where no registry answers, that is said', async () => {
  await expect(resolveDigests(['postgres:18.4'], 'http://127.0.0.1:9')).rejects.toThrow(
    '127.0.0.1:9 cannot be reached for postgres:18.4',
  );
});
