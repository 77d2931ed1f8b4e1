import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Orm } from '../../../src/db/orm.ts';
import { serviceKeys, startApi, type TestApi } from '../../support/api/api.ts';
import { FAKE_ROUTES, fakeLookups, OWN_RUT, tokenFor } from '../../support/api/fakeRoutes.ts';
import { faultCodes, type HttpClient, sendRaw } from '../../support/api/http.ts';

const PATH = `/enterprises/${OWN_RUT}/things`;
let api: TestApi;
let client: HttpClient;
let credentials: Record<string, string>;

beforeAll(async () => {
  const keys = await serviceKeys();
  const fakes = fakeLookups(keys.apiKeys);
  api = await startApi({ orm: {} as Orm, keys, routes: FAKE_ROUTES, lookups: fakes.lookups });
  credentials = { 'x-api-key': fakes.keys.live, authorization: `Bearer ${await tokenFor(api.deps, 'live')}` };
  client = api.client.with(credentials);
});
afterAll(() => api[Symbol.asyncDispose]());

/** Sends a body in chunks, without telling its length. */
const inChunks = (chunks: (string | Uint8Array)[], headers: Record<string, string> = {}) =>
  sendRaw(api.baseUrl + PATH, {
    method: 'POST',
    headers: { ...credentials, 'content-type': 'application/json', ...headers },
    chunks,
  });

describe('a hostile body is INVALID_INPUT, with path and code', () => {
  test.each<[string, string | Uint8Array, Record<string, string[]>]>([
    ['no body', '', { '': ['body.missing'] }],
    ['a list', '[{"count":1}]', { '': ['body.wrong_type'] }],
    ['a number', '1', { '': ['body.wrong_type'] }],
    ['null', 'null', { '': ['body.wrong_type'] }],
    ['a text', '"count"', { '': ['body.wrong_type'] }],
    ['half a body', '{"count":1', { '': ['body.malformed'] }],
    ['two bodies', '{"count":1}{"count":1}', { '': ['body.malformed'] }],
    ['a trailing comma', '{"count":1,}', { '': ['body.malformed'] }],
    ['a form', 'count=1', { '': ['body.malformed'] }],
    ['Latin-1', Buffer.from('{"count":"ñ"}', 'latin1'), { '': ['body.malformed'] }],
    ['half of an UTF-8 character', Buffer.from('{"count":"ñ"}').subarray(0, 11), { '': ['body.malformed'] }],
    ['UTF-16', Buffer.from('{"count":1}', 'utf16le'), { '': ['body.malformed'] }],
    ['deep nesting', `{"count":${'['.repeat(400)}${']'.repeat(400)}}`, { '': ['body.malformed'] }],
    ['a key twice with equal values', '{"count":1,"count":1}', { '/count': ['body.duplicate_key'] }],
    ['__proto__', '{"count":1,"__proto__":{"isAdmin":true}}', { '/__proto__': ['body.unknown_field'] }],
    ['constructor', '{"count":1,"constructor":{"prototype":{}}}', { '/constructor': ['body.unknown_field'] }],
    ['a number as text', '{"count":"1"}', { '/count': ['body.wrong_type'] }],
    [
      'a fraction beyond binary',
      '{"count":1.00000000000000000000000000001}',
      { '/count': ['number.not_whole'] },
    ],
    ['a number beyond all numbers', '{"count":1e999999999}', { '/count': ['number.out_of_range'] }],
    ['null for a value', '{"count":null}', { '/count': ['body.null'] }],
    ['an empty object', '{}', { '/count': ['body.missing'] }],
  ])('%s', async (_, body, faults) => {
    const answer = await client.post(PATH, body);

    expect([answer.status, answer.error.code, faultCodes(answer)]).toEqual([400, 'INVALID_INPUT', faults]);
  });

  test('what was sent is not sent back', async () => {
    const answer = await client.post(PATH, '{"password":"hunter2" "count":1}');

    expect(answer.status).toBe(400);
    expect(answer.text).not.toMatch(/hunter2|password/);
  });

  test('a field of an older layout is answered with the one to use now', async () => {
    const answer = await client.post(PATH, { count: 1, amount: 2 });

    expect(answer.error.message).toContain('use count');
  });
});

describe('a body that is taken', () => {
  test.each([
    ['exact decimals that are whole', '{"count":2.000}'],
    ['exponents that are whole', '{"count":20e-1}'],
    ['blanks around', ' \r\n\t{ "count" : 2 } \n'],
    ['a byte order mark before', '\ufeff{"count":2}'],
  ])('may have %s', async (_, body) => {
    expect(await client.post(PATH, body)).toMatchObject({ status: 201, data: { body: { count: 2 } } });
  });

  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ; charset=UTF-8',
    'application/json;',
    'application/json; charset=utf-8 ;',
    'application/json; odata=minimal;charset=utf-8; profile="https://example.com/a;b"',
  ])('may be of type %s', async (type) => {
    expect((await client.post(PATH, '{"count":2}', { 'content-type': type })).status).toBe(201);
  });

  test.each([
    'text/json',
    'application/jsonp',
    'application/json; charset=latin1',
    'application/json; profile=x; charset=latin1',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; profile="a',
    'application/problem+json',
    'application/json, text/plain',
    'multipart/form-data; boundary=x',
    'application/json; charset',
    `application/json;${' '.repeat(256)}charset=utf-8`,
  ])('may not be of type %s: 415', async (type) => {
    const answer = await client.post(PATH, '{"count":2}', { 'content-type': type });

    expect([answer.status, answer.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  test('may not be without a type: 415', async () => {
    const answer = await sendRaw(api.baseUrl + PATH, {
      method: 'POST',
      headers: { ...credentials, 'content-length': '2' },
      chunks: ['{}'],
    });

    expect(answer.status).toBe(415);
  });

  test('may not be compressed: 415', async () => {
    const answer = await client.post(PATH, gzipSync('{"count":2}'), { 'content-encoding': 'gzip' });

    expect(answer.status).toBe(415);
  });

  test('may come in chunks', async () => {
    expect(await inChunks(['{"cou', 'nt":2}'])).toMatchObject({ status: 201 });
    expect(await inChunks([Buffer.from('{"count":2')])).toMatchObject({ status: 400 });
  });

  test('may be left out where the route says so', async () => {
    const { 'x-api-key': key = '' } = credentials;

    expect((await api.client.with({ 'x-api-key': key }).post('/tokens')).status).toBe(200);
    expect((await api.client.with({ 'x-api-key': key }).post('/tokens', { a: 1 })).status).toBe(400);
  });
});

describe('a body that is too large is 413', () => {
  const padded = (bytes: number) => `{"count":2${' '.repeat(bytes - 11)}}`;

  test('to the byte', async () => {
    expect((await client.post(PATH, padded(1024))).status).toBe(201);
    expect((await client.post(PATH, padded(1025))).status).toBe(413);
  });

  test('when it comes in chunks', async () => {
    expect((await inChunks([padded(1024)])).status).toBe(201);
    expect((await inChunks([padded(1000), ' '.repeat(25)])).status).toBe(413);
  });

  test('when it is much too large, and the connection serves on', async () => {
    const answers = [await client.post(PATH, ' '.repeat(3_000_000)), await inChunks([' '.repeat(3_000_000)])];

    expect(answers.map(({ status }) => status)).toEqual([413, 413]);
    expect((await client.post(PATH, '{"count":2}')).status).toBe(201);
  });
});

test('a client that goes away in the middle of its body leaves no mark', async () => {
  const { port, hostname } = new URL(api.baseUrl);
  const socket = connect(Number(port), hostname);
  const headers = Object.entries(credentials).map(([name, value]) => `${name}: ${value}`);
  socket.write(
    [
      `POST /v1${PATH} HTTP/1.1`,
      'host: x',
      'content-type: application/json',
      'content-length: 100',
      ...headers,
      '',
      '{"co',
    ].join('\r\n'),
  );
  socket.end();
  await textOf(socket).catch(() => '');

  expect((await client.post(PATH, '{"count":2}')).status).toBe(201);
  expect(api.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
