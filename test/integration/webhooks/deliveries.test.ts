import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { redeliver } from '../../../src/commands/webhooks/redeliver.ts';
import {
  addWebhook,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
} from '../../../src/commands/webhooks/webhooks.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { findDelivery } from '../../../src/db/webhooks/deliveries.ts';
import { findWebhook } from '../../../src/db/webhooks/webhooks.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { inspectEvent } from '../../support/openapi/conformance.ts';
import { freePort } from '../../support/processes/services.ts';
import { openTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';
import { until } from '../../support/until.ts';
import {
  deliveryActivities,
  dispatchDeliveries,
  endedDelivery,
  webhookDeps,
} from '../../support/webhooks/deliveries.ts';
import {
  answering,
  aTestAuthority,
  type Receiver,
  startReceiver,
  type TestAuthority,
} from '../../support/webhooks/receiver.ts';

describe('deliveries to a real HTTPS receiver', () => {
  let db: TestDatabase;
  let temporal: TestTemporal;
  let authority: TestAuthority;
  let deps: ReturnType<typeof webhookDeps> & { orm: Orm };
  let accountId: string;
  let receiver: Receiver;
  beforeAll(async () => {
    [db, temporal, authority] = await Promise.all([
      cloneDatabase({ worker: true }),
      openTemporal('webhooks'),
      aTestAuthority(),
    ]);
    deps = { ...webhookDeps(db.orm), orm: db.orm };
    accountId = await anAccount(db.orm);
    receiver = await startReceiver(authority);
  });
  afterAll(async () => {
    await receiver.close();
    await temporal[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });

  /** A webhook of its own path, so that tests do not see each other's requests. */
  async function aWebhook(path: string) {
    const { webhook, secret } = await addWebhook(deps, {
      accountId,
      url: receiver.url(path),
      events: ['efactura.login'],
    });
    return { webhookId: webhook.id, secret, got: () => receiver.received.filter((one) => one.path === path) };
  }
  const working = <T>(work: () => Promise<T>, patience?: number): Promise<T> =>
    temporal.withWorkers(deliveryActivities({ ...deps, orm: db.worker }, authority.caPem, patience), work);
  const attemptsOf = async (id: string): Promise<{ n: number }> => {
    const [row] = await db.orm.em
      .fork()
      .execute<{ n: number }[]>('select count(*)::integer as n from delivery_attempt where delivery_id = ?', [
        id,
      ]);
    return row ?? { n: 0 };
  };
  const verified = (secret: string, { body, headers }: { body: string; headers: Record<string, string> }) =>
    new Verifier(secret).verify(body, headers);

  test('500, then silence, then 200: delivered at the third attempt, same id and bytes, each signed anew', async () => {
    const { webhookId, secret, got } = await aWebhook('/500-then-200');
    const { id } = await testWebhook(deps, { webhookId });
    receiver.script.push(answering(500, 'oh no'), () => {}, answering(200, 'thanks'));

    const { delivery, attempts } = await working(async () => {
      await dispatchDeliveries(db.orm, temporal);
      return endedDelivery(db.orm, id);
    });

    expect(delivery.status).toBe('DELIVERED');
    expect(
      attempts.map(({ number, httpStatus, error, answer }) => [number, httpStatus, error, answer]),
    ).toEqual([
      [1, 500, null, 'oh no'],
      [2, null, 'timeout', null],
      [3, 200, null, 'thanks'],
    ]);
    expect(got()).toHaveLength(3);
    expect(new Set(got().map(({ body, headers }) => `${headers['webhook-id']} ${body}`)).size).toBe(1);
    for (const request of got()) {
      expect(request.headers['webhook-id']).toBe(id);
      expect(request.headers['content-type']).toBe('application/json');
      inspectEvent(request);
      expect(verified(secret, request)).toMatchObject({
        event: 'webhook.test',
        data: { webhook_id: webhookId },
      });
    }
  });

  test('a receiver that is away has its delivery failed after four attempts; repeated by hand once it is back', async () => {
    const elsewhere = await startReceiver(authority, await freePort());
    const { webhook, secret } = await addWebhook(deps, {
      accountId,
      url: elsewhere.url('/away'),
      events: ['cfe.updated'],
    });
    await elsewhere.close();
    const { id } = await testWebhook(deps, { webhookId: webhook.id });

    await working(async () => {
      await dispatchDeliveries(db.orm, temporal);
      const failed = await endedDelivery(db.orm, id);
      expect(failed.delivery.status).toBe('FAILED');
      expect(failed.attempts.map(({ error }) => error)).toEqual(Array(4).fill('connection_refused'));

      const back = await startReceiver(authority, elsewhere.port);
      try {
        await redeliver(deps, { deliveryId: id });
        await dispatchDeliveries(db.orm, temporal);
        const repeated = await endedDelivery(db.orm, id);
        expect(repeated.delivery.status).toBe('DELIVERED');
        expect(repeated.attempts).toHaveLength(5);
        expect(back.received.map(({ headers }) => headers['webhook-id'])).toEqual([id]);
        for (const request of back.received) expect(verified(secret, request)).toBeTruthy();
      } finally {
        await back.close();
      }
    });
  });

  test('asked for again while it waits for its retry: sent at once, and its schedule begins anew', async () => {
    const { webhookId, got } = await aWebhook('/waits');
    const { id } = await testWebhook(deps, { webhookId });
    receiver.script.push(answering(503), answering(503), answering(200));

    await working(async () => {
      await dispatchDeliveries(db.orm, temporal, [3_600_000, 3_600_000]);
      await until('the first attempt', 20, async () => (await attemptsOf(id)).n >= 1 || undefined);
      await redeliver(deps, { deliveryId: id });
      await dispatchDeliveries(db.orm, temporal, [3_600_000, 3_600_000]);
      await until('the second attempt', 20, async () => (await attemptsOf(id)).n >= 2 || undefined);
      await redeliver(deps, { deliveryId: id });
      await dispatchDeliveries(db.orm, temporal, [3_600_000, 3_600_000]);
      const { delivery, attempts } = await endedDelivery(db.orm, id);
      expect(delivery.status).toBe('DELIVERED');
      expect(attempts.map(({ httpStatus }) => httpStatus)).toEqual([503, 503, 200]);
    });

    expect(new Set(got().map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]));
  });

  test('asked for again while its last attempt is in progress: that one does not end it', async () => {
    const { webhookId } = await aWebhook('/last');
    const { id } = await testWebhook(deps, { webhookId });
    let fail = (): void => {};
    receiver.script.push(
      answering(503),
      (response, request) => {
        fail = () => answering(503)(response, request);
      },
      answering(200),
    );

    await working(async () => {
      await dispatchDeliveries(db.orm, temporal, [20]);
      await until('the last attempt', 20, async () => receiver.script.length === 1 || undefined);
      await redeliver(deps, { deliveryId: id });
      fail();
      await until('its failure', 20, async () => (await attemptsOf(id)).n >= 2 || undefined);
      expect((await findDelivery(db.orm.em.fork(), id))?.status).toBe('PENDING');
      // Only now does the request reach the workflow, whose run has ended.
      await dispatchDeliveries(db.orm, temporal, [20]);
      expect((await endedDelivery(db.orm, id)).delivery.status).toBe('DELIVERED');
    }, 20_000);
  });

  test('a receiver that restarts between two attempts gets the same message by the schedule alone', async () => {
    // A port that the system gives to nobody else while the receiver is away.
    const before = await startReceiver(authority, await freePort());
    before.script.push(...Array.from({ length: 30 }, () => answering(503)));
    const { webhook, secret } = await addWebhook(deps, {
      accountId,
      url: before.url('/restarted'),
      events: ['cfe.updated'],
    });
    const { id } = await testWebhook(deps, { webhookId: webhook.id });

    await working(async () => {
      await dispatchDeliveries(db.orm, temporal, Array(30).fill(1_000));
      await until('the first attempt', 20, async () => before.received.length > 0);
      await before.close();
      await until('an attempt while it is away', 20, async () => {
        const { n } = await attemptsOf(id);
        return n > before.received.length;
      });
      const after = await startReceiver(authority, before.port);
      try {
        const { delivery, attempts } = await endedDelivery(db.orm, id);
        expect(delivery.status).toBe('DELIVERED');
        const words = attempts.map(({ httpStatus, error }) => String(httpStatus ?? error)).join(' ');
        expect(words).toMatch(/^(503 )+(connection(_refused)? )+200$/);
        const all = [...before.received, ...after.received];
        expect(new Set(all.map(({ body }) => body)).size).toBe(1);
        for (const request of [...before.received, ...after.received]) {
          expect(request.headers['webhook-id']).toBe(id);
          expect(verified(secret, request)).toBeTruthy();
        }
      } finally {
        await after.close();
      }
    });
  });

  test('a redirect is a failure that is tried again at the same address; of a huge answer the beginning is kept', async () => {
    const { webhookId, got } = await aWebhook('/moved');
    const { id } = await testWebhook(deps, { webhookId });
    const huge = 'x'.repeat(1_000_000);
    receiver.script.push(
      answering(308, '', { location: receiver.url('/inside') }),
      answering(500, huge),
      answering(201, huge),
    );

    const { delivery, attempts } = await working(async () => {
      await dispatchDeliveries(db.orm, temporal);
      return endedDelivery(db.orm, id);
    });

    expect(delivery.status).toBe('DELIVERED');
    expect(attempts.map(({ httpStatus, answer }) => [httpStatus, answer?.length])).toEqual([
      [308, 0],
      [500, 4_096],
      [201, 4_096],
    ]);
    expect(got()).toHaveLength(3);
    expect(receiver.received.filter(({ path }) => path === '/inside')).toEqual([]);
  });

  test('410 is tried again like any failure, and nothing new goes to that webhook', async () => {
    const { webhookId, got } = await aWebhook('/gone');
    const { id } = await testWebhook(deps, { webhookId });
    receiver.script.push(answering(410), answering(200));

    const { delivery } = await working(async () => {
      await dispatchDeliveries(db.orm, temporal);
      return endedDelivery(db.orm, id);
    });

    expect(delivery.status).toBe('DELIVERED');
    expect(got()).toHaveLength(2);
    expect(await findWebhook(db.orm.em.fork(), webhookId)).toMatchObject({
      enabled: false,
      disabledReason: 'gone',
    });
    expect(
      await db.orm.em
        .fork()
        .execute('select actor, action from audit where subject = ? order by id', [webhookId]),
    ).toEqual([
      { actor: 'service', action: 'webhook.add' },
      { actor: 'service', action: 'webhook.test' },
      { actor: 'service', action: 'webhook.disable' },
    ]);
  });

  test('during the overlap of a rotation both secrets verify, and after it the new one only', async () => {
    const { webhookId, secret: before, got } = await aWebhook('/rotated');
    const { secret: after } = await rotateWebhookSecret(deps, { webhookId });
    const during = await testWebhook(deps, { webhookId });
    await working(async () => {
      await dispatchDeliveries(db.orm, temporal);
      await endedDelivery(db.orm, during.id);
    });
    await db.orm.em
      .fork()
      .execute(`update webhook set previous_secret_until = now() - interval '1 s' where id = ?`, [webhookId]);
    const later = await testWebhook(deps, { webhookId });
    await working(async () => {
      await dispatchDeliveries(db.orm, temporal);
      await endedDelivery(db.orm, later.id);
    });

    const [first, second] = got();
    if (!first || !second) throw new Error('two requests were expected');
    expect(verified(before, first)).toEqual(verified(after, first));
    expect(verified(after, second)).toBeTruthy();
    expect(() => verified(before, second)).toThrow();
  });

  test('a webhook that was removed is sent nothing more', async () => {
    const { webhookId, got } = await aWebhook('/removed');
    const { id } = await testWebhook(deps, { webhookId });
    await removeWebhook(deps, { webhookId });

    const { delivery, attempts } = await working(async () => {
      await dispatchDeliveries(db.orm, temporal);
      return endedDelivery(db.orm, id);
    });

    expect(delivery.status).toBe('FAILED');
    expect(attempts.map(({ error }) => error)).toEqual(['webhook_removed']);
    expect(got()).toEqual([]);
    await expect(redeliver(deps, { deliveryId: id })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  test.each([
    {
      name: 'one silent receiver with many deliveries delays no other account',
      webhooks: 1,
      each: 40,
      most: 5,
    },
    {
      name: 'twenty silent receivers of one account delay no other account',
      webhooks: 20,
      each: 5,
      most: 10,
    },
  ])('$name', async (row) => {
    const quick = await aWebhook('/quick');
    const slowAccount = await anAccount(db.orm);
    const silent: (() => void)[] = [];
    let [underWay, most] = [0, 0];
    const silence = await startReceiver(authority);
    try {
      silence.script.push(
        ...Array.from({ length: 200 }, () => (response: ServerResponse) => {
          silent.push(() => response.end());
          underWay += 1;
          most = Math.max(most, underWay);
          response.once('close', () => (underWay -= 1));
        }),
      );
      for (let i = 0; i < row.webhooks; i += 1) {
        const input = { accountId: slowAccount, url: silence.url(), events: ['efactura.login'] };
        const { webhook } = await addWebhook(deps, input);
        for (let k = 0; k < row.each; k += 1) await testWebhook(deps, { webhookId: webhook.id });
      }
      const { id } = await testWebhook(deps, { webhookId: quick.webhookId });

      await working(async () => {
        await dispatchDeliveries(db.orm, temporal, [60_000]);
        await until('as many in progress as may be', 40, async () => most >= row.most || undefined);
        const { delivery } = await endedDelivery(db.orm, id, 8);
        expect(delivery.status).toBe('DELIVERED');
        // And never more.
        expect(most).toBe(row.most);
        silence.script.length = 0;
        for (const release of silent) release();
      });
    } finally {
      await silence.close();
    }
  });
});
