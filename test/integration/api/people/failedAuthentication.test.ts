import type { EventEmitter } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createApiKey, revokeApiKey } from '../../../../src/commands/people/apiKeys.ts';
import { getPool, type Orm, openOrm } from '../../../../src/db/orm.ts';
import { serviceKeys, startApi, type TestApi, type TestCaller } from '../../../support/api/api.ts';
import { expectRefusal } from '../../../support/api/expectRefusal.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aRut } from '../../../support/receipts/papers.ts';
import { until } from '../../../support/until.ts';

/** The clock stands, but for what a test moves it. */
const START = new Date('2026-11-20T12:00:00Z');
const WINDOW_MILLISECONDS = 600_000;
let now = START;

let db: TestDatabase;
let orms: Orm[];
let api: TestApi;
/** A second process of the same service. */
let other: TestApi;
let caller: TestCaller;
/** How often a connection was taken, for a statement or a transaction, by either process. */
let taken = 0;

beforeAll(async () => {
  db = await cloneDatabase();
  const open = () => openOrm({ databaseUrl: db.urlOf('api'), pool: 4 });
  orms = [await open(), await open(), await open(), await open()];
  const [own, counters, otherOwn, otherCounters] = orms as [Orm, Orm, Orm, Orm];
  const keys = await serviceKeys();
  const shared = { keys, clock: () => now, trustedProxies: 1 };
  api = await startApi({ orm: db.orm, own, counters, ...shared });
  other = await startApi({ orm: db.orm, own: otherOwn, counters: otherCounters, ...shared });
  caller = await api.aCaller();
  for (const orm of orms) {
    const pool = (await getPool(orm)) as unknown as EventEmitter;
    pool.on('acquire', () => {
      taken += 1;
    });
  }
});
beforeEach(() => {
  now = START;
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  for (const orm of orms ?? []) await orm.close(true);
  await db?.[Symbol.asyncDispose]();
});

const PATH = `/enterprises/${aRut()}`;
/** A call that comes from `address` by way of the one trusted proxy. */
const call = (address: string, headers: Record<string, string> = {}, at = api) =>
  at.client.with({ 'x-forwarded-for': address, ...headers }).get(PATH);
const right = () => ({ 'x-api-key': caller.apiKey, authorization: `Bearer ${caller.token}` });

/** Takes `address` beyond the limit at `at`. */
async function exceed(address: string, at = api): Promise<void> {
  for (let i = 0; i < 101; i += 1) await call(address, {}, at);
  expectRefusal(await call(address, {}, at), 429, 'RATE_LIMITED');
}

/** How many times a connection was taken meanwhile. */
async function takenBy(work: () => Promise<unknown>): Promise<number> {
  const before = taken;
  await work();
  return taken - before;
}

describe('an address beyond the limit of failed authentications', () => {
  test('costs no statement, whatever is wrong with key and token', async () => {
    await exceed('192.0.2.1');
    const unknown = api.deps.apiKeys.create('production').text;
    const another = await api.aCaller({ accountId: caller.accountId });
    const wrong: Record<string, string>[] = [
      {},
      { 'x-api-key': 'cfe_live_x' },
      { ...right(), authorization: 'Bearer x' },
      { ...right(), 'x-api-key': unknown },
    ];
    // Reads the keys that are there; kept for a second.
    await call('192.0.2.1', { ...right(), 'x-api-key': unknown });

    const begun = performance.now();
    const flood = await takenBy(async () => {
      for (let i = 0; i < 50; i += 1) {
        const answers = await Promise.all(wrong.map((headers) => call('192.0.2.1', headers)));
        expect(answers.map(({ status }) => status)).toEqual(wrong.map(() => 429));
      }
    });

    // The keys are read again once a second.
    expect(flood).toBeLessThanOrEqual(1 + Math.floor((performance.now() - begun) / 1_000));
    const mixed = { 'x-api-key': caller.apiKey, authorization: `Bearer ${another.token}` };
    expect((await call('192.0.2.1', mixed)).status).toBe(429);
  });

  test('a right key is let in all the same, and one that was made or revoked meanwhile is told apart', async () => {
    await exceed('192.0.2.2');

    expect((await call('192.0.2.2', right())).status).toBe(404);

    const { key, text } = await createApiKey(api.deps, {
      accountId: caller.accountId,
      environment: 'production',
    });
    const token = await api.deps.tokens.issue(
      { accountId: caller.accountId, keyId: key.id, environment: 'production' },
      now,
    );
    const fresh = { 'x-api-key': text, authorization: `Bearer ${token}` };
    await until('the new key is let in', 3, async () => (await call('192.0.2.2', fresh)).status === 404);

    await revokeApiKey(api.deps, { keyId: key.id });
    expect((await call('192.0.2.2', fresh)).status).toBe(429);
  });

  test('each process learns of it by its first failure, and both forget it when the window ends', async () => {
    await exceed('192.0.2.3');

    const first = await takenBy(() => call('192.0.2.3', {}, other));
    const second = await takenBy(() => call('192.0.2.3', {}, other));
    expect([first, second]).toEqual([1, 0]);

    now = new Date(START.getTime() + WINDOW_MILLISECONDS - 1);
    for (const at of [api, other]) expect((await call('192.0.2.3', {}, at)).status).toBe(429);
    now = new Date(START.getTime() + WINDOW_MILLISECONDS);
    for (const at of [api, other]) expect((await call('192.0.2.3', {}, at)).status).toBe(401);
  });

  test('is one network of IPv6, not one address of it; another network is not meant', async () => {
    for (let i = 0; i < 101; i += 1) await call(`2001:db8:1:2::${i.toString(16)}`);

    expect((await call('2001:db8:1:2:ffff::1')).status).toBe(429);
    expect((await call('2001:db8:1:3::1')).status).toBe(401);
  });

  test('cannot put its failures down to another by X-Forwarded-For', async () => {
    for (let i = 0; i < 101; i += 1) await call(`198.51.100.${i}, 192.0.2.4`);

    expect((await call('198.51.100.200, 192.0.2.4')).status).toBe(429);
    expect((await call('198.51.100.1')).status).toBe(401);
  });
});
