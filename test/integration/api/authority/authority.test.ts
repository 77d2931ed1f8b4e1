import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthorityWatch } from '../../../../src/api/authorityWatch.ts';
import { addWebhook } from '../../../../src/commands/webhooks/webhooks.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { Event } from '../../../../src/db/entities/webhooks.ts';
import { type Orm, openOrm } from '../../../../src/db/orm.ts';
import { FAILURES_TO_OPEN } from '../../../../src/domain/authority/breaker.ts';
import { createBreakers } from '../../../../src/gate/breakers.ts';
import { startApi, type TestApi, type TestCaller } from '../../../support/api/api.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { notingStatements } from '../../../support/database/statements.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { inspectEvent } from '../../../support/openapi/conformance.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { deliveriesTo, webhookDeps } from '../../../support/webhooks/deliveries.ts';

let db: TestDatabase;
let other: Orm;
let now: Date;
const passes = (seconds: number): void => {
  now = new Date(now.getTime() + seconds * 1_000);
};
const breakersOf = (orm: Orm) => createBreakers({ orm, clock: () => now, chance: () => 0 });
const endpoint = 'sandbox/reception';

beforeAll(async () => {
  db = await cloneDatabase();
  other = await openOrm({ databaseUrl: db.databaseUrl, pool: 5 });
});
afterAll(async () => {
  await other.close(true);
  await db[Symbol.asyncDispose]();
});
beforeEach(async () => {
  now = new Date();
  await db.asOwner(
    `update authority_endpoint set failures = 0, open_since = null, next_probe_at = null, probes = 0, prober_id = null,
       closed_at = null; truncate account_event, delivery, event cascade; delete from outbox; delete from webhook`,
  );
});

/** Calls that end so, all at once, of two processes. */
async function calls(how: 'failed' | 'answered', count: number): Promise<void> {
  const [one, two] = [breakersOf(db.orm), breakersOf(other)];
  const permits = await Promise.all(
    Array.from({ length: count }, (_, i) => (i % 2 === 0 ? one : two).permit({ endpoint, isProbe: true })),
  );
  await Promise.all(permits.flatMap((permit) => (permit ? [permit.ended(how)] : [])));
}
const goesDown = () => calls('failed', FAILURES_TO_OPEN + 3);
const comesUp = () => {
  passes(2);
  return calls('answered', 3);
};

describe('GET /authority', () => {
  let api: TestApi;
  let caller: TestCaller;
  let sandbox: TestCaller;
  let rut: string;
  beforeAll(async () => {
    api = await startApi({ orm: db.orm });
    caller = await api.aCaller();
    sandbox = await api.aCaller({ accountId: caller.accountId, environment: 'sandbox' });
    rut = await aReadyEnterprise(db.orm, caller.accountId);
  });
  afterAll(() => api[Symbol.asyncDispose]());
  beforeEach(() => db.orm.em.fork().nativeUpdate(Cfe, { rut }, { settledAt: now, status: 'ACCEPTED' }));

  const QUIET = { status: 'UP', since: null, waiting: 0, oldest_waiting_seconds: null };
  /** What a process tells that has not looked yet. */
  async function read(as = caller) {
    const fresh = await startApi({
      orm: db.orm,
      keys: api.deps,
      clock: () => now,
      realClock: () => new Date(),
    });
    try {
      const headers = { 'x-api-key': as.apiKey, authorization: `Bearer ${as.token}` };
      const mode: Record<string, string> = as === sandbox ? { 'x-sandbox-mode': 'true' } : {};
      return await fresh.client.get<Record<string, unknown>>('/authority', { ...headers, ...mode });
    } finally {
      await fresh[Symbol.asyncDispose]();
    }
  }
  /** A CFE that was taken so many seconds ago. */
  async function aCfe(seconds: number, wishes: Parameters<typeof aCfeBody>[0] = {}, values: object = {}) {
    const { data } = await caller.client.post<{ cfe_id: string }>(
      `/enterprises/${rut}/cfes`,
      aCfeBody(wishes),
    );
    const [cfe] = await db.orm.em.fork().find(Cfe, { rut }, { orderBy: { createdAt: 'desc' }, limit: 1 });
    const createdAt = new Date(now.getTime() - seconds * 1_000);
    await db.orm.em.fork().nativeUpdate(Cfe, { id: cfe?.id ?? '' }, { createdAt, ...values });
    return data.cfe_id;
  }

  test('UP while nothing waits, to any token', async () => {
    const quiet = { status: 200, data: { production: QUIET, sandbox: QUIET } };
    expect(await read()).toMatchObject(quiet);
    expect(await read(sandbox)).toMatchObject(quiet);
  });

  test('UP while the oldest waits for a minute, SLOW after that, of that environment alone', async () => {
    await aCfe(60);
    expect((await read()).data['production']).toEqual({ ...QUIET, waiting: 1, oldest_waiting_seconds: 60 });
    await aCfe(3);
    passes(5);
    expect((await read()).data).toEqual({
      production: {
        status: 'SLOW',
        since: new Date(now.getTime() - 5_000).toISOString(),
        waiting: 2,
        oldest_waiting_seconds: 65,
      },
      sandbox: QUIET,
    });
  });

  test('what waits for support, or for the verdict on its original, does not wait for the authority', async () => {
    await aCfe(500, {}, { stuckReason: 'undecided' });
    const original = await aCfe(90, {}, { stuckReason: 'undecided' });
    await aCfe(80, { type: 'ETICKET_NC', net: 10, reference: original });
    expect((await read()).data['production']).toEqual(QUIET);

    await db.orm.em
      .fork()
      .nativeUpdate(Cfe, { rut, type: 'ETICKET' }, { status: 'ACCEPTED', settledAt: now, stuckReason: null });
    expect((await read()).data['production']).toMatchObject({ status: 'SLOW', waiting: 1 });
  });

  test('DOWN since its breaker opened; UP since it closed', async () => {
    const opened = now.toISOString();
    await goesDown();
    passes(30);
    expect((await read()).data).toEqual({
      production: QUIET,
      sandbox: { ...QUIET, status: 'DOWN', since: opened },
    });
    await comesUp();
    expect((await read()).data['sandbox']).toEqual({ ...QUIET, since: now.toISOString() });
  });

  test('the database is asked once, however many ask', async () => {
    const noted = await notingStatements(db.urlOf('api'));
    try {
      const watch = createAuthorityWatch({ orm: noted.orm });
      const answers = await Promise.all(Array.from({ length: 200 }, () => watch()));
      expect(new Set(answers).size).toBe(1);
      expect(noted.taken()).toHaveLength(2);
    } finally {
      await noted.orm.close(true);
    }
  });

  test('a look that fails is not kept', async () => {
    const watch = createAuthorityWatch(db);
    await db.asOwner('alter table authority_endpoint rename to endpoint_away');
    try {
      await expect(watch()).rejects.toThrow();
    } finally {
      await db.asOwner('alter table endpoint_away rename to authority_endpoint');
    }
    expect(await watch()).toHaveLength(2);
  });
});

describe('authority.updated', () => {
  const told = async () => {
    const events = await db.orm.em
      .fork()
      .find(Event, { name: 'authority.updated' }, { orderBy: { createdAt: 'asc' } });
    for (const { body } of events) inspectEvent({ body });
    return events.map(({ body }) => (JSON.parse(body) as { data: unknown }).data);
  };
  async function aWebhook(...events: ('authority.updated' | 'cfe.updated')[]): Promise<string> {
    const accountId = await anAccount(db.orm);
    const url = 'https://hooks.example.com/';
    return (await addWebhook(webhookDeps(db.orm), { accountId, url, events })).webhook.id;
  }
  const deliveredTo = async (id: string) =>
    (await deliveriesTo(db.orm, id)).map(({ eventName }) => eventName);

  test('once per change, to each webhook that selected it, of whatever account', async () => {
    const [one, two, none] = [
      await aWebhook('authority.updated'),
      await aWebhook('authority.updated', 'cfe.updated'),
      await aWebhook('cfe.updated'),
    ];
    const down = now.toISOString();
    await goesDown();
    expect(await told()).toEqual([{ environment: 'sandbox', status: 'DOWN', since: down }]);
    passes(1);
    // A probe that fails changes nothing.
    await calls('failed', 1);
    await comesUp();
    const up = now.toISOString();
    expect(await told()).toEqual([
      { environment: 'sandbox', status: 'DOWN', since: down },
      { environment: 'sandbox', status: 'UP', since: up },
    ]);
    for (const id of [one, two]) {
      expect(await deliveredTo(id)).toEqual(['authority.updated', 'authority.updated']);
    }
    expect(await deliveredTo(none)).toEqual([]);
  });

  test('not of the endpoints that are only asked', async () => {
    await aWebhook('authority.updated');
    const breakers = breakersOf(db.orm);
    for (let i = 0; i < FAILURES_TO_OPEN; i += 1) {
      await (await breakers.permit({ endpoint: 'production/registry', isProbe: false }))?.ended('failed');
    }
    expect(await told()).toEqual([]);
  });

  test('a change whose event cannot be stored has not happened; it is told when it does', async () => {
    const id = await aWebhook('authority.updated');
    await db.asOwner('alter table delivery rename to delivery_away');
    try {
      await expect(goesDown()).rejects.toThrow();
      const [row] = await db.orm.em
        .fork()
        .execute('select open_since from authority_endpoint where name = ?', [endpoint]);
      expect(row).toEqual({ open_since: null });
    } finally {
      await db.asOwner('alter table delivery_away rename to delivery');
    }
    await goesDown();
    expect(await deliveredTo(id)).toEqual(['authority.updated']);
  });
});
