import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAccount } from '../../../../src/commands/people/accounts.ts';
import { createApiKey } from '../../../../src/commands/people/apiKeys.ts';
import { ApiKey } from '../../../../src/db/entities/people.ts';
import { openOrm } from '../../../../src/db/orm.ts';
import { startApi, type TestApi } from '../../../support/api/api.ts';
import { faultCodes } from '../../../support/api/http.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { startTcpProxy } from '../../../support/processes/tcpProxy.ts';

interface Token {
  access_token: string;
  token_type: string;
  expires_in: number;
}

let now = new Date('2026-11-20T12:00:00Z');
let database: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  database = await cloneDatabase();
  api = await startApi({ orm: database.orm, clock: () => now });
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** The row of a key. */
const rowOf = (apiKey: string) =>
  database.orm.em.fork().findOneOrFail(ApiKey, { publicId: apiKey.split('_')[2] ?? '' });
const tokenFrom = (headers: Record<string, string>, body: unknown = {}) =>
  api.client.with(headers).post<Token>('/tokens', body);

describe('POST /v1/tokens', () => {
  test.each(['production', 'sandbox'] as const)('200: a token for %s, good at once', async (environment) => {
    const { apiKey } = await api.aCaller({ environment });
    const mode: Record<string, string> = environment === 'sandbox' ? { 'x-sandbox-mode': 'true' } : {};

    const answer = await tokenFrom({ 'x-api-key': apiKey, ...mode });

    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 });
    const { accountId, id: keyId } = await rowOf(apiKey);
    expect(await api.deps.tokens.verify(answer.data.access_token, now)).toEqual({
      accountId,
      keyId,
      environment,
    });
  });

  test('a token keeps its hour by the machine’s clock, however far business dates are moved', async () => {
    const realNow = new Date();
    let businessNow = realNow;
    await using moved = await startApi({
      orm: database.orm,
      clock: () => businessNow,
      realClock: () => realNow,
    });
    const { token, apiKey } = await moved.aCaller();
    const list = () =>
      moved.client.with({ 'x-api-key': apiKey, authorization: `Bearer ${token}` }).get('/enterprises');
    expect((await list()).status).toBe(200);

    businessNow = new Date(realNow.getTime() + 5 * 86_400_000);

    expect((await list()).status).toBe(200);
  });

  test('200: without a body too', async () => {
    const { apiKey } = await api.aCaller();

    expect((await tokenFrom({ 'x-api-key': apiKey }, undefined)).status).toBe(200);
  });

  test('400: a body that is not empty', async () => {
    const { apiKey } = await api.aCaller();

    const answer = await tokenFrom({ 'x-api-key': apiKey }, { scope: 'all' });

    expect([answer.status, answer.error.code, faultCodes(answer)]).toEqual([
      400,
      'INVALID_INPUT',
      { '/scope': ['body.unknown_field'] },
    ]);
  });

  test('400: X-Sandbox-Mode is neither true nor false', async () => {
    const { apiKey } = await api.aCaller();

    const answer = await tokenFrom({ 'x-api-key': apiKey, 'x-sandbox-mode': 'yes' });

    expect([answer.status, faultCodes(answer)]).toEqual([
      400,
      { '/headers/X-Sandbox-Mode': ['sandbox.malformed'] },
    ]);
  });

  test('401 INVALID_API_KEY: missing, unknown, mistyped, revoked, of the other environment', async () => {
    const [live, revoked, sandbox] = [
      await api.aCaller(),
      await api.aCaller(),
      await api.aCaller({ environment: 'sandbox' }),
    ];
    await database.orm.em.fork().nativeUpdate(ApiKey, { accountId: revoked.accountId }, { revokedAt: now });
    const headers: Record<string, string>[] = [
      {},
      { 'x-api-key': api.deps.apiKeys.create('production').text },
      { 'x-api-key': `${live.apiKey.slice(0, -1)}~` },
      { 'x-api-key': revoked.apiKey },
      { 'x-api-key': sandbox.apiKey },
      { 'x-api-key': live.apiKey, 'x-sandbox-mode': 'true' },
    ];

    const answers = await Promise.all(headers.map((one) => tokenFrom(one)));

    expect(answers.map(({ status, error }) => [status, error.code])).toEqual(
      headers.map(() => [401, 'INVALID_API_KEY']),
    );
  });

  test('403 FORBIDDEN: sandbox without is_developer', async () => {
    const { apiKey } = await api.aCaller({ environment: 'sandbox', isDeveloper: false });

    const answer = await tokenFrom({ 'x-api-key': apiKey, 'x-sandbox-mode': 'true' });

    expect([answer.status, answer.error.code]).toEqual([403, 'FORBIDDEN']);
  });

  test('413 and 415: a large body, a body that is not JSON', async () => {
    const { apiKey } = await api.aCaller();
    const large = await tokenFrom({ 'x-api-key': apiKey }, ' '.repeat(16 * 1024 + 1));
    const text = await tokenFrom({ 'x-api-key': apiKey, 'content-type': 'text/plain' }, '{}');

    expect([large.status, text.status]).toEqual([413, 415]);
  });

  test('503 with Retry-After: the database cannot be reached', async () => {
    const proxy = await startTcpProxy(database.databaseUrl);
    const orm = await openOrm({ databaseUrl: proxy.url, pool: 2 });
    const lonely = await startApi({ orm });
    const { apiKey } = await lonely.aCaller();
    await proxy.cut();

    const answers = [];
    for (let i = 0; i < 3; i += 1)
      answers.push(await lonely.client.with({ 'x-api-key': apiKey }).post('/tokens', {}));
    await lonely[Symbol.asyncDispose]();
    await orm.close(true);

    for (const answer of answers) {
      expect([answer.status, answer.error.code, answer.headers.get('retry-after')]).toEqual([
        503,
        'UNAVAILABLE',
        '5',
      ]);
    }
  });
});

describe('API keys', () => {
  test('are not in the database, which knows them by a keyed hash', async () => {
    const { apiKey } = await api.aCaller();

    const row = await rowOf(apiKey);

    expect(JSON.stringify(row)).not.toContain(apiKey.split('_')[3]);
    expect(Buffer.from(row.hash)).toEqual(api.deps.apiKeys.hashOf(apiKey));
  });

  test('last_used_at is written at most once a minute', async () => {
    const { apiKey } = await api.aCaller();
    const start = now;
    const usedAfter = async (seconds: number) => {
      now = new Date(start.getTime() + seconds * 1000);
      await tokenFrom({ 'x-api-key': apiKey });
      return ((await rowOf(apiKey)).lastUsedAt?.getTime() ?? 0) - start.getTime();
    };

    const used = [await usedAfter(0), await usedAfter(59), await usedAfter(60), await usedAfter(61)];
    now = start;

    expect(used).toEqual([0, 0, 60_000, 60_000]);
  });

  test('a text of the caller’s own makes the same key once, under one account', async () => {
    const account = await createAccount(api.deps, { name: 'A', email: 'a@example.com', isDeveloper: true });
    const again = await createAccount(api.deps, {
      accountId: account.id,
      name: 'B',
      email: 'b@example.com',
      isDeveloper: false,
    });
    const { text } = api.deps.apiKeys.create('sandbox');
    const input = { accountId: account.id, environment: 'sandbox', text } as const;

    const keys = await Promise.all([createApiKey(api.deps, input), createApiKey(api.deps, input)]);

    expect([again.id, again.name]).toEqual([account.id, 'A']);
    expect(keys[0]?.key.id).toBe(keys[1]?.key.id);
    const { accountId } = await api.aCaller();
    await expect(createApiKey(api.deps, { ...input, accountId })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await expect(createApiKey(api.deps, { ...input, environment: 'production' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await expect(createApiKey(api.deps, { ...input, text: 'cfe_test_x' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  test('an account that is not there gets no key', async () => {
    const accountId = '00000000-0000-4000-8000-000000000000';

    await expect(createApiKey(api.deps, { accountId, environment: 'production' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

test('an API key in the place of a token is told about POST /tokens', async () => {
  const { apiKey } = await api.aCaller();
  const client = api.client.with({ 'x-api-key': apiKey, authorization: `Bearer ${apiKey}` });
  const answer = await client.get('/enterprises');
  expect([answer.status, answer.error.message]).toEqual([401, expect.stringContaining('POST /tokens')]);
});
