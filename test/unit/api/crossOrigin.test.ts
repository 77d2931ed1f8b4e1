import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Orm } from '../../../src/db/orm.ts';
import { startApi, type TestApi } from '../../support/api/api.ts';
import { sendRaw } from '../../support/api/http.ts';

const FRIEND = 'https://console.example';
let closed: TestApi;
let open: TestApi;
beforeAll(async () => {
  closed = await startApi({ orm: {} as Orm });
  open = await startApi({ orm: {} as Orm, corsOrigins: [FRIEND] });
});
afterAll(async () => {
  await closed[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
});

const preflight = (api: TestApi, origin: string) =>
  sendRaw(`${api.baseUrl}/tokens`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key,content-type',
    },
  });
const call = (api: TestApi, origin: string) =>
  sendRaw(`${api.baseUrl}/nothing`, { method: 'POST', headers: { origin } });

const corsOf = (headers: Record<string, unknown>): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe('CORS', () => {
  test('is off unless origins are configured', async () => {
    const [asked, called] = [await preflight(closed, FRIEND), await call(closed, FRIEND)];
    expect([...corsOf(asked.headers), ...corsOf(called.headers)]).toEqual([]);
    // The second is an error, in the language of its caller.
    expect([asked.headers['vary'], called.headers['vary']]).toEqual([undefined, 'Accept-Language']);
  });

  test('lets a configured origin ask and read, without cookies', async () => {
    const asked = await preflight(open, FRIEND);
    expect([asked.status, asked.text]).toEqual([204, '']);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': FRIEND,
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': expect.stringMatching(/Authorization.*Content-Type.*X-API-Key/),
      vary: 'Origin',
    });

    const called = await call(open, FRIEND);
    expect(called.status).toBe(404);
    expect(called.headers).toMatchObject({
      'access-control-allow-origin': FRIEND,
      'access-control-expose-headers': expect.stringContaining('X-Request-Id'),
    });
    expect(called.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test.each(['https://console.example.evil.example', 'http://console.example', 'null', '*'])(
    'gives nothing to another origin: %s',
    async (origin) => {
      expect(corsOf((await preflight(open, origin)).headers)).toEqual([]);
      expect(corsOf((await call(open, origin)).headers)).toEqual([]);
    },
  );

  test('a plain OPTIONS of a configured origin still tells the methods', async () => {
    const answer = await sendRaw(`${open.baseUrl}/tokens`, {
      method: 'OPTIONS',
      headers: { origin: FRIEND },
    });
    expect([answer.status, answer.headers['allow']]).toEqual([204, 'OPTIONS, POST']);
  });
});
