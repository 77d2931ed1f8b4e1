import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Orm } from '../../../src/db/orm.ts';
import { closeServer, createHttpServer, listen } from '../../../src/http/server.ts';
import { serviceKeys, startApi, type TestApi } from '../../support/api/api.ts';
import { FAKE_ROUTES, fakeLookups, OWN_RUT, tokenFor } from '../../support/api/fakeRoutes.ts';
import { type HttpClient, sendRaw } from '../../support/api/http.ts';

const PATH = `/enterprises/${OWN_RUT}/things`;
let api: TestApi;
let client: HttpClient;
let root: string;
let isReady = true;

beforeAll(async () => {
  const keys = await serviceKeys();
  const fakes = fakeLookups(keys.apiKeys);
  api = await startApi({
    orm: {} as Orm,
    keys,
    routes: FAKE_ROUTES,
    lookups: fakes.lookups,
    ready: async () => isReady,
  });
  root = api.baseUrl.slice(0, -'/v1'.length);
  client = api.client.with({
    'x-api-key': fakes.keys.live,
    authorization: `Bearer ${await tokenFor(api.deps, 'live')}`,
  });
});
afterAll(() => api[Symbol.asyncDispose]());
beforeEach(() => {
  api.lines.length = 0;
});

describe('every answer', () => {
  test.each([
    ['a success', 200, () => client.get(PATH)],
    ['a refusal', 401, () => api.client.get(PATH)],
    ['an unknown path', 404, () => api.client.get('/nothing')],
    ['another method', 405, () => api.client.send('PUT', PATH)],
    ['a failure', 500, () => client.put('/things', {})],
  ] as const)('has security headers, no-store and a request id: %s', async (_, status, send) => {
    const { headers, status: got } = await send();

    expect(got).toBe(status);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^[0-9a-f]{8}-/),
    });
    expect(headers.has('access-control-allow-origin')).toBe(false);
    expect(headers.has('x-powered-by')).toBe(false);
  });

  test.each(['12345678', 'a.b_c-D9', 'x'.repeat(128)])(
    'carries the request id of the caller: %s',
    async (id) => {
      expect((await client.get(PATH, { 'x-request-id': id })).headers.get('x-request-id')).toBe(id);
    },
  );

  test.each(['1234567', 'x'.repeat(129), 'with blank', 'quote"quote', '<script>'])(
    'carries one of ours instead of %j',
    async (id) => {
      expect((await client.get(PATH, { 'x-request-id': id })).headers.get('x-request-id')).toMatch(
        /^[0-9a-f-]{36}$/,
      );
    },
  );
});

describe('a failure of ours', () => {
  test('is a 500 that names the request, and nothing of what happened', async () => {
    const answer = await client.put('/things', { secret: 'hunter2' }, { 'x-request-id': 'request-77' });

    expect(answer.text).toBe(
      '{"error":{"code":"INTERNAL_ERROR","message":"Something went wrong on our side. Quote request request-77 when you report it."}}',
    );
  });

  test('is logged with its request and its frames, without its words', async () => {
    await client.put('/things', { secret: 'hunter2' }, { 'x-request-id': 'request-78' });

    const [line] = api.lines.filter(({ msg }) => msg === 'request failed');
    expect(line).toMatchObject({
      level: 50,
      requestId: 'request-78',
      route: '/v1/things',
      code: 'INTERNAL_ERROR',
    });
    expect(JSON.stringify(api.lines)).not.toContain('hunter2');
  });
});

describe('the log', () => {
  test('has one line a request, of chosen facts', async () => {
    await client.get(`${PATH}?limit=7`, { 'x-request-id': 'request-79' });

    expect(api.lines).toHaveLength(1);
    const { time: _time, pid: _pid, ...line } = api.lines[0] ?? {};
    expect(line).toEqual({
      level: 30,
      name: 'test',
      msg: 'request',
      requestId: 'request-79',
      accountId: 'account-1',
      keyId: 'live',
      address: '127.0.0.1',
      method: 'GET',
      route: '/v1/enterprises/{rut}/things',
      status: 200,
      ms: expect.any(Number),
    });
  });

  test('names no account and no key before they are proven, and no route where there is none', async () => {
    await api.client.get('/nothing?password=hunter2');

    expect(api.lines).toMatchObject([
      { accountId: null, keyId: null, address: '127.0.0.1', route: null, status: 404 },
    ]);
    expect(JSON.stringify(api.lines)).not.toContain('hunter2');
  });

  test('keeps probes out of the way', async () => {
    await fetch(`${root}/livez`);

    expect(api.lines).toMatchObject([{ level: 20, route: '/livez' }]);
  });
});

describe('methods', () => {
  test('HEAD answers as GET does, without the body', async () => {
    const [head, get] = [await client.send('HEAD', PATH), await client.get(PATH)];

    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)));
    expect((await api.client.send('HEAD', PATH)).status).toBe(401);
  });

  test('OPTIONS tells the methods of a path to everyone', async () => {
    const answer = await api.client.send('OPTIONS', PATH);

    expect([answer.status, answer.text, answer.headers.get('allow')]).toEqual([
      204,
      '',
      'GET, HEAD, OPTIONS, POST',
    ]);
    expect((await api.client.send('OPTIONS', '/nothing')).status).toBe(404);
  });

  test.each(['PATCH', 'PUT', 'DELETE', 'PROPFIND', 'M-SEARCH'])(
    '%s where it is not taken is 405',
    async (method) => {
      const answer = await sendRaw(api.baseUrl + PATH, { method });

      expect(answer.status).toBe(405);
      expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS, POST');
    },
  );
});

describe('paths', () => {
  test.each([
    '',
    '/',
    '/tokens/',
    '/TOKENS',
    '/enterprises',
    `/enterprises//things`,
    `${PATH}/`,
    '/..%2f',
    '/%zz',
    '/%00',
    '//tokens',
  ])('%s is 404', async (path) => {
    const answer = await sendRaw(api.baseUrl + path, { method: 'POST' });

    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
  });

  test.each(['%zz', '%00', '..%2f..', '219999830019%20', '２１９９９９８３００１９'])(
    'the path value %s is malformed: 400',
    async (value) => {
      const answer = await client.get(`/enterprises/${value}/things`);

      expect([answer.status, answer.error.details?.fields[0]?.path]).toEqual([400, '/path/rut']);
    },
  );
});

describe('query parameters', () => {
  test.each<[string, string, string]>([
    ['?limit=x', '/query/limit', 'body.wrong_type'],
    ['?limit=', '/query/limit', 'body.wrong_type'],
    ['?limit=1&limit=1', '/query/limit', 'body.duplicate_key'],
    ['?limits=1', '/query/limits', 'body.unknown_field'],
    ['?__proto__=1', '/query/__proto__', 'body.unknown_field'],
    ['?=1', '/query/', 'body.unknown_field'],
  ])('%s is a fault', async (query, path, code) => {
    const answer = await client.get(PATH + query);

    expect([answer.status, answer.error.details?.fields]).toMatchObject([400, [{ path, code }]]);
  });

  test('none, and an empty question mark, are fine', async () => {
    expect((await client.get(`${PATH}?`)).status).toBe(200);
  });
});

describe('probes', () => {
  test('/livez and /readyz answer without a key', async () => {
    const answers = await Promise.all(['/livez', '/readyz'].map((path) => fetch(root + path)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await answers[0]?.json()).toEqual({ data: { status: 'ok' } });
  });

  test('/readyz is 503 with Retry-After while it cannot serve; /livez goes on', async () => {
    isReady = false;
    const [live, ready] = [await fetch(`${root}/livez`), await fetch(`${root}/readyz`)];
    isReady = true;

    expect([live.status, ready.status, ready.headers.get('retry-after')]).toEqual([200, 503, '1']);
    expect(await ready.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
  });
});

describe('what is no HTTP', () => {
  /** What the server says to these bytes until it closes. */
  async function say(bytes: string): Promise<string> {
    const { port, hostname } = new URL(api.baseUrl);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(bytes);
    return textOf(socket);
  }

  test.each<[string, string, number, string?]>([
    ['nonsense', 'nonsense\r\n\r\n', 400],
    [
      'headers without end',
      `GET /livez HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    [
      'two lengths',
      'POST /v1/tokens HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
      400,
    ],
    [
      'a length and chunks',
      'POST /v1/tokens HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
  ])(
    '%s is answered in the envelope, and the connection closed',
    async (_, bytes, status, code = 'INVALID_INPUT') => {
      const [head = '', body = ''] = (await say(bytes)).split('\r\n\r\n');

      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(head).toMatch(/^X-Request-Id: [0-9a-f-]{36}$/im);
      expect(JSON.parse(body)).toEqual({ error: { code, message: expect.any(String) } });
    },
  );

  test('a request that does not arrive in time is 408 with a code of its own', async () => {
    const server = createHttpServer(() => undefined);
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    server.on('connection', (socket) => server.emit('clientError', late, socket));
    const socket = connect(await listen(server, { host: '127.0.0.1', port: 0 }), '127.0.0.1');
    const [head = '', body = ''] = (await textOf(socket)).split('\r\n\r\n');
    await closeServer(server, 0);

    expect(head).toMatch(/^HTTP\/1.1 408 /);
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'REQUEST_TIMEOUT' } });
  });
});
