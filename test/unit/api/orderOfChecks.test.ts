import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApiKeys } from '../../../src/crypto/apiKeys.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { serviceKeys, startApi, type TestApi } from '../../support/api/api.ts';
import {
  FAKE_ROUTES,
  FOREIGN_RUT,
  fakeLookups,
  OWN_RUT,
  tokenFor,
  UNKNOWN_RUT,
} from '../../support/api/fakeRoutes.ts';
import { faultCodes } from '../../support/api/http.ts';
import { aPepper } from '../../support/database/pepper.ts';

/** The clock of the API stands, but for what a test moves it. */
let now = new Date('2026-11-20T12:00:00Z');
let api: TestApi;
let fakes: ReturnType<typeof fakeLookups>;

beforeAll(async () => {
  const keys = await serviceKeys();
  fakes = fakeLookups(keys.apiKeys);
  // No database: every check before the handlers runs on the fake lookups.
  const orm = {} as Orm;
  api = await startApi({ orm, keys, clock: () => now, routes: FAKE_ROUTES, lookups: fakes.lookups });
});
afterAll(() => api[Symbol.asyncDispose]());

type KeyName = 'live' | 'otherLive' | 'test' | 'revoked' | 'plainTest';

/** Headers of a caller with that key and a token of it, or of another. */
async function as(key: KeyName, tokenOf: KeyName = key): Promise<Record<string, string>> {
  const environment = key === 'test' || key === 'plainTest' ? 'sandbox' : 'production';
  const token = await tokenFor(
    api.deps,
    tokenOf,
    environment,
    key === 'plainTest' ? 'account-2' : 'account-1',
  );
  return { 'x-api-key': fakes.keys[key], authorization: `Bearer ${token}` };
}

/** A wrong request, worse with every step: of two faults, the one that is checked first must be told. */
const WRONG_BODY = { body: { count: 0 } };
const WRONG_TYPE = { body: 'count=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
const things = (rut: string) => `/enterprises/${rut}/things`;

describe('the order of checks: each refusal comes before all that follow it in this list', () => {
  test('404: an unknown path, without any key', async () => {
    expect(await api.client.send('POST', '/nothing', WRONG_TYPE)).toMatchObject({
      status: 404,
      error: { code: 'NOT_FOUND' },
    });
  });

  test('405 with Allow: another method, without any key', async () => {
    const answer = await api.client.send('DELETE', things('1'), { headers: { 'x-sandbox-mode': 'maybe' } });

    expect(answer).toMatchObject({ status: 405, error: { code: 'METHOD_NOT_ALLOWED' } });
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
  });

  test('401: no key, with a malformed sandbox mode and RUT', async () => {
    const headers = { 'x-sandbox-mode': 'maybe', ...WRONG_TYPE.headers };

    expect(await api.client.send('POST', things('1'), { ...WRONG_TYPE, headers })).toMatchObject({
      status: 401,
      error: { code: 'UNAUTHORIZED' },
    });
  });

  test('400: a malformed sandbox mode, with a malformed RUT', async () => {
    const client = api.client.with({ ...(await as('live')), 'x-sandbox-mode': 'TRUE' });

    const answer = await client.send('POST', things('1'), WRONG_TYPE);

    expect(answer.status).toBe(400);
    expect(faultCodes(answer)).toEqual({ '/headers/X-Sandbox-Mode': ['sandbox.malformed'] });
  });

  test('400: sandbox where only production is served, with the key of the wrong environment', async () => {
    const client = api.client.with({ ...(await as('live')), 'x-sandbox-mode': 'true' });

    const answer = await client.get(things('1'));

    expect(answer.status).toBe(400);
    expect(faultCodes(answer)).toEqual({ '/headers/X-Sandbox-Mode': ['sandbox.unsupported'] });
  });

  test('403: the key of the other environment, with a malformed RUT', async () => {
    const client = api.client.with(await as('test'));

    expect(await client.send('POST', things('1'), WRONG_TYPE)).toMatchObject({
      status: 403,
      error: { code: 'FORBIDDEN' },
    });
  });

  test('403: sandbox without is_developer, with a malformed RUT', async () => {
    const client = api.client.with({ ...(await as('plainTest')), 'x-sandbox-mode': 'true' });

    expect(await client.send('POST', things('1'), WRONG_TYPE)).toMatchObject({
      status: 403,
      error: { code: 'FORBIDDEN' },
    });
  });

  test('400: a malformed RUT, with a body of another type', async () => {
    const answer = await api.client.with(await as('live')).send('POST', things('219999830018'), WRONG_TYPE);

    expect(answer.status).toBe(400);
    expect(faultCodes(answer)).toEqual({ '/path/rut': ['rut.check_digit'] });
  });

  test.each([
    ['404: an enterprise that nobody registered', UNKNOWN_RUT, 404, 'NOT_FOUND'],
    ['403: an enterprise of another account', FOREIGN_RUT, 403, 'FORBIDDEN'],
  ])('%s, with a body of another type', async (_, rut, status, code) => {
    const answer = await api.client.with(await as('live')).send('POST', things(rut), WRONG_TYPE);

    expect(answer).toMatchObject({ status, error: { code } });
  });

  test('413: too large a body, of another type', async () => {
    const sending = { ...WRONG_TYPE, body: 'x'.repeat(1025) };

    const answer = await api.client.with(await as('live')).send('POST', things(OWN_RUT), sending);

    expect(answer).toMatchObject({ status: 413, error: { code: 'PAYLOAD_TOO_LARGE' } });
  });

  test('415: a body of another type', async () => {
    const answer = await api.client.with(await as('live')).send('POST', things(OWN_RUT), WRONG_TYPE);

    expect(answer).toMatchObject({ status: 415, error: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
  });

  test('400: faults of query and body together', async () => {
    const answer = await api.client
      .with(await as('live'))
      .send('POST', `${things(OWN_RUT)}?limit=3`, WRONG_BODY);

    expect(answer.status).toBe(400);
    expect(faultCodes(answer)).toEqual({
      '/query/limit': ['body.unknown_field'],
      '/count': ['number.out_of_range'],
    });
  });

  test('and what is right is served', async () => {
    const sandbox = api.client.with({ ...(await as('test')), 'x-sandbox-mode': 'true' });
    const production = api.client.with({ ...(await as('live')), 'x-sandbox-mode': 'false' });

    expect(await sandbox.post(things(OWN_RUT), { count: 3 })).toMatchObject({
      status: 201,
      data: { body: { count: 3 }, bytes: 11, environment: 'sandbox' },
    });
    expect(await production.get(`${things(OWN_RUT)}?limit=3`)).toMatchObject({
      status: 200,
      data: { params: { rut: OWN_RUT }, query: { limit: 3 }, role: 'OWNER', name: `Empresa ${OWN_RUT}` },
    });
  });
});

describe('key and token', () => {
  test.each<[string, () => Promise<Record<string, string>>]>([
    ['no header at all', async () => ({})],
    ['a token without a key', async () => ({ authorization: (await as('live'))['authorization'] ?? '' })],
    ['a key without a token', async () => ({ 'x-api-key': fakes.keys.live })],
    ['a text for a key', async () => ({ ...(await as('live')), 'x-api-key': 'cfe_live_x' })],
    [
      'an unknown key',
      async () => ({
        ...(await as('live')),
        'x-api-key': createApiKeys([aPepper()]).create('production').text,
      }),
    ],
    ['a revoked key and a token that was obtained with it', () => as('revoked')],
    ['a token of another key of the account', () => as('live', 'otherLive')],
    ['a text for a token', async () => ({ ...(await as('live')), authorization: 'Bearer abc.def.ghi' })],
    [
      'the token alone',
      async () => ({
        ...(await as('live')),
        authorization: (await as('live'))['authorization']?.slice(7) ?? '',
      }),
    ],
    [
      'two tokens',
      async () => ({ ...(await as('live')), authorization: `${(await as('live'))['authorization']}, x` }),
    ],
  ])('401 UNAUTHORIZED: %s', async (_, headers) => {
    const answer = await api.client.with(await headers()).get(things(OWN_RUT));

    expect(answer).toMatchObject({ status: 401, error: { code: 'UNAUTHORIZED' } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="cfe"');
  });

  test('401: a token ends after its hour', async () => {
    const headers = await as('live');
    const before = now;
    now = new Date(before.getTime() + 3_600_000);

    const answer = await api.client.with(headers).get(things(OWN_RUT));
    now = before;

    expect(answer.status).toBe(401);
    expect((await api.client.with(headers).get(things(OWN_RUT))).status).toBe(200);
  });

  test('unknown and revoked keys are answered in the same words', async () => {
    const unknown = { ...(await as('live')), 'x-api-key': api.deps.apiKeys.create('production').text };
    const answers = [
      await api.client.with(unknown).get(things(OWN_RUT)),
      await api.client.with(await as('revoked')).get(things(OWN_RUT)),
    ];

    expect(answers[0]?.error).toEqual(answers[1]?.error);
  });

  test('the use of a key is recorded once it is proven, not before', async () => {
    fakes.used.length = 0;

    await api.client.with(await as('live', 'otherLive')).get(things(OWN_RUT));
    expect(fakes.used).toEqual([]);

    await api.client.with(await as('live')).get(things(OWN_RUT));
    expect(fakes.used).toEqual(['live']);
  });

  test.each<[string, Record<string, string>, number, string | undefined]>([
    ['no key', {}, 401, 'INVALID_API_KEY'],
    ['a text for a key', { 'x-api-key': 'x' }, 401, 'INVALID_API_KEY'],
    ['a revoked key', { 'x-api-key': 'revoked' }, 401, 'INVALID_API_KEY'],
    ['a sandbox key without the header', { 'x-api-key': 'test' }, 401, 'INVALID_API_KEY'],
    ['a sandbox key with false', { 'x-api-key': 'test', 'x-sandbox-mode': 'false' }, 401, 'INVALID_API_KEY'],
    ['a production key with true', { 'x-api-key': 'live', 'x-sandbox-mode': 'true' }, 401, 'INVALID_API_KEY'],
    [
      'a sandbox key without is_developer',
      { 'x-api-key': 'plainTest', 'x-sandbox-mode': 'true' },
      403,
      'FORBIDDEN',
    ],
    ['a malformed sandbox mode', { 'x-api-key': 'live', 'x-sandbox-mode': '1' }, 400, 'INVALID_INPUT'],
    ['an empty sandbox mode', { 'x-api-key': 'live', 'x-sandbox-mode': '' }, 400, 'INVALID_INPUT'],
    ['a sandbox key with true', { 'x-api-key': 'test', 'x-sandbox-mode': 'true' }, 200, undefined],
    ['a production key', { 'x-api-key': 'live' }, 200, undefined],
    ['a production key with false', { 'x-api-key': 'live', 'x-sandbox-mode': 'false' }, 200, undefined],
  ])('at /tokens: %s', async (_, headers, status, code) => {
    const named = headers['x-api-key'] as KeyName | undefined;
    const key: Record<string, string> =
      named === undefined ? {} : { 'x-api-key': fakes.keys[named] ?? named };

    const answer = await api.client.with({ ...headers, ...key }).post('/tokens', {});

    expect([answer.status, answer.error?.code]).toEqual([status, code]);
    if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('ApiKey realm="cfe"');
  });
});
