import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setRateLimit } from '../../../../src/commands/people/accounts.ts';
import { purgeExpiredRows } from '../../../../src/db/operations/purge.ts';
import { type Orm, openOrm } from '../../../../src/db/orm.ts';
import { serviceKeys, startApi, type TestApi, type TestCaller } from '../../../support/api/api.ts';
import { expectRefusal } from '../../../support/api/expectRefusal.ts';
import type { Answer } from '../../../support/api/http.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { RETENTION } from '../../../support/database/retention.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aRut } from '../../../support/receipts/papers.ts';

/** The clock stands, but for what a test moves it. */
const START = new Date('2026-11-20T12:00:00.250Z');
let now = START;

let db: TestDatabase;
let otherOrm: Orm;
let api: TestApi;
/** A second process of the same service: connections, counters in memory (there are none) and port of its own. */
let other: TestApi;

beforeAll(async () => {
  db = await cloneDatabase();
  otherOrm = await openOrm({ databaseUrl: db.databaseUrl, pool: 10 });
  const keys = await serviceKeys();
  const clock = () => now;
  api = await startApi({ orm: db.orm, keys, clock });
  other = await startApi({ orm: otherOrm, keys, clock });
});
beforeEach(() => {
  now = START;
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await otherOrm?.close(true);
  await db?.[Symbol.asyncDispose]();
});

const PATH = `/enterprises/${aRut()}`;
const read = (caller: TestCaller, path = PATH) => caller.client.get(path);
/** The same caller at the other process. */
const atOther = (caller: TestCaller, path = PATH) =>
  other.client.with({ 'x-api-key': caller.apiKey, authorization: `Bearer ${caller.token}` }).get(path);

const headersOf = ({ headers }: Answer) => ({
  policy: headers.get('ratelimit-policy'),
  now: headers.get('ratelimit'),
});
const NONE = { policy: null, now: null };
/** How many requests are left, as an answer says. */
const leftAfter = (answer: Answer): number => Number(/;r=(\d+);/.exec(headersOf(answer).now ?? '')?.[1]);

async function limited(perHour: number): Promise<TestCaller> {
  const caller = await api.aCaller();
  await setRateLimit(api.deps, { accountId: caller.accountId, environment: 'production', perHour });
  return caller;
}

describe('the rate limit of an account', () => {
  test('is 1,000 in production and 5,000 in the sandbox, each counted for itself', async () => {
    const live = await api.aCaller();
    const sandbox = await api.aCaller({ accountId: live.accountId, environment: 'sandbox' });

    expect(headersOf(await read(live))).toEqual({
      policy: '"default";q=1000;w=3600',
      now: '"default";r=999;t=3600',
    });
    expect(headersOf(await sandbox.client.post('/tokens', {}))).toEqual({
      policy: '"default";q=5000;w=3600',
      now: '"default";r=4999;t=3600',
    });
    expect(leftAfter(await read(live))).toBe(998);
  });

  test('counts by account, not by key, and every request whose caller is known, whatever it is answered', async () => {
    const first = await api.aCaller();
    const second = await api.aCaller({ accountId: first.accountId });
    const rut = await anEnterprise(db.orm, first.accountId);
    const answers = [
      await first.client.post('/tokens', {}),
      await second.client.get(`/enterprises/${rut}`),
      await first.client.get('/enterprises/1'),
      await second.client.get(PATH),
      await first.client.post('/enterprises', '{"a":'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 404, 400]);
    expect(answers.map(leftAfter)).toEqual([999, 998, 997, 996, 995]);
  });

  test('counts nobody who is not known, and nothing that is no request of an account', async () => {
    expect(headersOf(await api.client.get(PATH))).toEqual(NONE);
    expect(headersOf(await api.client.get('/nothing'))).toEqual(NONE);
  });

  test('429 beyond it, with Retry-After; the next window begins with the first request after an hour', async () => {
    const caller = await limited(2);
    await read(caller);
    now = new Date(START.getTime() + 600_000);
    await read(caller);

    const answer = await read(caller);

    const error = expectRefusal(answer, 429, 'RATE_LIMITED');
    expect(error.message).toContain('2 requests');
    expect(answer.headers.get('retry-after')).toBe('3000');
    expect(headersOf(answer)).toEqual({
      policy: '"default";q=2;w=3600',
      now: '"default";r=0;t=3000',
    });
    now = new Date(START.getTime() + 3_600_000);
    expect(headersOf(await caller.client.post('/tokens', {}))).toEqual({
      policy: '"default";q=2;w=3600',
      now: '"default";r=1;t=3600',
    });
  });

  test('is the account’s own where an operator set one, from the next request on', async () => {
    const caller = await api.aCaller();
    expect(headersOf(await read(caller)).policy).toBe('"default";q=1000;w=3600');
    const set = (perHour: number) =>
      setRateLimit(other.deps, { accountId: caller.accountId, environment: 'production', perHour });

    await set(1);
    expect((await read(caller)).status).toBe(429);

    await set(7);
    expect(headersOf(await read(caller))).toMatchObject({
      policy: '"default";q=7;w=3600',
      now: expect.stringMatching(/;r=4;/),
    });
  });

  test('is exact when two processes count 300 requests at once', async () => {
    const caller = await limited(200);
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? read(caller) : atOther(caller))),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(200);
    expect(statuses.filter((status) => status === 429)).toHaveLength(100);
    const left = answers.filter(({ status }) => status === 404).map(leftAfter);
    expect(new Set(left).size).toBe(200);
  });
});

describe('failed authentication', () => {
  test('100 in 10 minutes at one address, over all processes and at /tokens too; then 429, but a right key goes on', async () => {
    const caller = await api.aCaller();
    await api.deps.orm.em.fork().execute('delete from failed_authentication');
    const failures = [
      () => api.client.get(PATH),
      () => other.client.get(PATH),
      () => api.client.post('/tokens', {}),
      () => caller.client.with({ authorization: 'Bearer x' }).get(PATH),
    ];
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => failures.map((fail) => fail())).flat(),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(401));

    for (const fail of failures) {
      const answer = await fail();
      expectRefusal(answer, 429, 'RATE_LIMITED');
      expect(answer.headers.get('retry-after')).toBe('600');
      expect(headersOf(answer)).toEqual(NONE);
    }
    expect((await read(caller)).status).toBe(404);

    now = new Date(START.getTime() + 600_000);
    expectRefusal(await api.client.get(PATH), 401, 'UNAUTHORIZED');
  });

  test('is forgotten when its time is over', async () => {
    await api.client.get(PATH);
    const addresses = () => api.deps.orm.em.fork().execute<unknown[]>('select 1 from failed_authentication');
    expect(await addresses()).toHaveLength(1);

    const now = new Date(START.getTime() + 1_300_000);
    await purgeExpiredRows(db.orm, { now, retention: RETENTION, batch: 100 });

    expect(await addresses()).toEqual([]);
  });
});
