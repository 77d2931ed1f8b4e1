import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import { redeliver } from '../../../src/commands/webhooks/redeliver.ts';
import { addWebhook, testWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import {
  findCurrentSigner,
  replaceCertificate,
  requireSigner,
} from '../../../src/db/enterprises/certificates.ts';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { Delivery } from '../../../src/db/entities/webhooks.ts';
import { purgeExpiredRows } from '../../../src/db/operations/purge.ts';
import {
  countSealedByKey,
  listSealedUnderOtherKeys,
  SEALED_COLUMNS,
} from '../../../src/db/operations/sealed.ts';
import { insertDeliveryAttempt } from '../../../src/db/webhooks/deliveries.ts';
import type { PurgedTable } from '../../../src/domain/operations/retention.ts';
import { createKeyOpener } from '../../../src/wiring/privateKeys.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { RETENTION } from '../../support/database/retention.ts';
import { aKeyPair } from '../../support/database/sealing.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const DAY = 86_400_000;
const NOW = new Date('2026-11-22T12:00:00Z');
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * DAY);

describe('what is kept for a time only', () => {
  let db: TestDatabase;
  let accountId: string;
  let webhookId: string;
  beforeAll(async () => {
    db = await cloneDatabase({ pool: 5, worker: true });
    accountId = await anAccount(db.orm);
    const input = { accountId, url: 'https://hooks.example.com/', events: ['efactura.login'] };
    webhookId = (await addWebhook(webhookDeps(db.orm), input)).webhook.id;
  });
  afterAll(() => db[Symbol.asyncDispose]());
  beforeEach(async () => {
    await db.asOwner(
      'truncate outbox, delivery_attempt, delivery, event, request_count, failed_authentication cascade',
    );
  });

  const execute = <T extends object[]>(sql: string, values: unknown[] = []): Promise<T> =>
    db.orm.em.fork().execute<T>(sql, values);
  const countOf = async (table: PurgedTable | 'delivery'): Promise<number> =>
    (await execute<{ n: number }[]>(`select count(*)::integer as n from ${table}`))[0]?.n ?? -1;
  const purge = (more: Partial<Parameters<typeof purgeExpiredRows>[1]> = {}) =>
    purgeExpiredRows(db.worker, { now: NOW, retention: RETENTION, batch: 3, ...more });

  /** A delivery that was made and ended so many days ago, with one attempt; its id. */
  async function aDelivery(made: number, ended: number | null = made, status = 'DELIVERED'): Promise<string> {
    const { id } = await testWebhook(webhookDeps(db.orm, { clock: () => daysAgo(made) }), { webhookId });
    await db.orm.em.fork().transactional((em) =>
      insertDeliveryAttempt(em, {
        deliveryId: id,
        execution: randomUUID(),
        at: daysAgo(ended ?? made),
        httpStatus: 500,
        error: null,
        answer: 'no',
        milliseconds: 1,
      }),
    );
    if (ended !== null) {
      await execute('update delivery set status = ?, settled_at = ? where id = ?', [
        status,
        daysAgo(ended),
        id,
      ]);
    }
    return id;
  }

  test('messages that were dispatched go after their days, however many; those that wait stay', async () => {
    const insert = (dispatchedAt: Date | null, rows: number) =>
      execute(
        `insert into outbox (lane, workflow, workflow_id, input, search_attributes, created_at, dispatched_at, attempts, not_before)
         select 2, 'deliverWebhook', 'wh:' || n, '{}', '{}', ?, ?, 1, now() from generate_series(1, ?) as n`,
        [daysAgo(400), dispatchedAt, rows],
      );
    await insert(daysAgo(8), 10);
    await insert(daysAgo(6), 2);
    await insert(null, 3);
    const told: number[] = [];

    const { outbox } = await purge({ onPurged: (_table, rows) => void told.push(rows) });

    expect(outbox).toBe(10);
    expect(told).toEqual([3, 3, 3, 1]);
    expect(await countOf('outbox')).toBe(5);
    expect((await purge()).outbox).toBe(0);
  });

  test('an invitation into an account goes 30 days after it could last be used, also when it was', async () => {
    const invite = (expiredDays: number, endedDays: number | null) =>
      execute(
        `insert into account_invitation (id, account_id, email, role, token_hash, created_at, expires_at, ended_at)
         values (gen_random_uuid(), ?, gen_random_uuid()::text, 'OWNER', sha256(gen_random_uuid()::text::bytea), ?, ?, ?)`,
        [
          accountId,
          daysAgo(expiredDays + 1),
          daysAgo(expiredDays),
          endedDays === null ? null : daysAgo(endedDays),
        ],
      );
    await invite(31, null);
    await invite(31, 31.5);
    await invite(29, null);
    await invite(29, 29.5);
    await invite(-0.5, null);

    expect((await purge()).account_invitation).toBe(2);
    expect(await countOf('account_invitation')).toBe(3);
  });

  test('so does an operator’s invitation of a person, who stays', async () => {
    const id = randomUUID();
    await execute(`insert into person (id, email, created_at) values (?, ?, ?)`, [
      id,
      `${id}@example.com`,
      daysAgo(40),
    ]);
    for (const expiredDays of [31, 29, -0.5])
      await execute(
        `insert into invitation (id, person_id, token_hash, created_at, expires_at)
         values (gen_random_uuid(), ?, sha256(gen_random_uuid()::text::bytea), ?, ?)`,
        [id, daysAgo(40), daysAgo(expiredDays)],
      );

    expect((await purge()).invitation).toBe(1);
    expect(await countOf('invitation')).toBe(2);
    expect(await execute('select from person where id = ?', [id])).toHaveLength(1);
  });

  test('sessions of the console go after 30 days, also those of who was shut out; attempts to sign in with their window', async () => {
    const people = [null, daysAgo(100)].map((disabledAt) => ({ id: randomUUID(), disabledAt }));
    for (const { id, disabledAt } of people) {
      await execute('insert into person (id, email, created_at, disabled_at) values (?, ?, ?, ?)', [
        id,
        `${id}@example.com`,
        daysAgo(400),
        disabledAt,
      ]);
      for (const days of [400, 31, 29])
        await execute(
          `insert into console_session (id, token_hash, person_id, method, complete, address, browser, created_at, seen_at)
           values (gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), ?, 'password', true, '192.0.2.1', 'Firefox', ?, ?)`,
          [id, daysAgo(days), daysAgo(days)],
        );
    }
    const counted = [daysAgo(0.01), daysAgo(0.02), NOW];
    for (const since of counted)
      await execute('insert into sign_in_count (place, since, attempts) values (?, ?, 1)', [
        `network:${randomUUID()}`,
        since,
      ]);
    for (const [i, { id }] of people.entries())
      await execute('insert into form_count (person_id, since, forms) values (?, ?, 1)', [id, daysAgo(i)]);

    expect(await purge()).toMatchObject({ console_session: 4, sign_in_count: 1, form_count: 1 });

    expect([await countOf('console_session'), await countOf('sign_in_count')]).toEqual([2, 2]);
  });

  test('broken off after a batch, it has done that batch, and goes on from there', async () => {
    for (let n = 0; n < 4; n += 1) await aDelivery(40);
    const die = () => {
      throw new Error('killed');
    };

    await expect(purge({ batch: 1, onPurged: die })).rejects.toThrow('killed');

    expect(await countOf('delivery_attempt')).toBe(3);
    expect(await purge({ batch: 1 })).toMatchObject({ delivery_attempt: 3 });
  });

  test('events go with their deliveries and attempts, but not while one waits or has ended lately', async () => {
    await aDelivery(100);
    await aDelivery(120, 95, 'FAILED');
    const late = await aDelivery(100, 20);
    const waits = await aDelivery(100, null);
    const young = await aDelivery(80);

    expect(await purge()).toMatchObject({ event: 2 });

    const left = await execute<{ id: string }[]>('select id from delivery');
    expect(left.map(({ id }) => id).sort()).toEqual([late, waits, young].sort());
    expect(await countOf('event')).toBe(3);
  });

  test('attempts go after their days, but of deliveries that wait; the next one is counted on', async () => {
    await aDelivery(40);
    const waits = await aDelivery(40, null);
    await aDelivery(20);

    expect(await purge()).toMatchObject({ delivery_attempt: 1, event: 0 });

    expect(await countOf('delivery_attempt')).toBe(2);
    const next = {
      deliveryId: waits,
      execution: 'next',
      at: NOW,
      httpStatus: 200,
      error: null,
      answer: null,
    };
    await execute('update delivery_attempt set number = 4 where delivery_id = ?', [waits]);
    await db.orm.em.fork().transactional((em) => insertDeliveryAttempt(em, { ...next, milliseconds: 1 }));
    const numbers = await execute<{ number: number }[]>(
      'select number from delivery_attempt where delivery_id = ? order by number',
      [waits],
    );
    expect(numbers.map(({ number }) => number)).toEqual([4, 5]);
  });

  test('a delivery that is asked for again while its event goes stays, or is gone before: never half', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => aDelivery(100)));

    const asked = await Promise.allSettled([
      purge({ batch: 1 }),
      purge({ batch: 2 }),
      ...ids.map((deliveryId) => redeliver(webhookDeps(db.orm), { deliveryId })),
    ]);

    const [first, second, ...answers] = asked.map(({ status }) => status);
    expect([first, second]).toEqual(['fulfilled', 'fulfilled']);
    const taken = ids.filter((_, i) => answers[i] === 'fulfilled').sort();
    const left = await db.orm.em.fork().find(Delivery, { webhookId });
    expect(left.map(({ id }) => id).sort()).toEqual(taken);
    expect(left.every(({ status }) => status === 'PENDING')).toBe(true);
    expect(await countOf('event')).toBe(taken.length);
    for (const answer of asked) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  test('neither waits nor blocks: locked rows are deleted by the next run', async () => {
    const [held] = [await aDelivery(40), await aDelivery(40)];
    await db.orm.em.fork().transactional(async (em) => {
      await em.execute('select 1 from delivery_attempt where delivery_id = ? for update', [held]);
      expect(await purge()).toMatchObject({ delivery_attempt: 1 });
    });
    expect(await purge()).toMatchObject({ delivery_attempt: 1 });
  });

  test('counts of requests and of failed authentications go with their windows', async () => {
    await execute(
      `insert into request_count (account_id, environment, since, requests)
       values (?, 'production', ?, 7), (?, 'sandbox', ?, 7)`,
      [accountId, daysAgo(1), accountId, NOW],
    );
    await execute(
      `insert into failed_authentication (address, since, failures) values ('a', ?, 1), ('b', ?, 1)`,
      [daysAgo(1), NOW],
    );
    await execute(`insert into daily_count (counter, day, count) values ('a', ?, 1), ('a', ?, 1)`, [
      daysAgo(3),
      NOW,
    ]);

    expect(await purge()).toMatchObject({ request_count: 1, failed_authentication: 1, daily_count: 1 });

    const counts = ['request_count', 'failed_authentication', 'daily_count'] as const;
    expect(await Promise.all(counts.map(countOf))).toEqual([1, 1, 1]);
  });

  test('an address that refused an e-mail may be tried again after thirty days', async () => {
    await execute(
      `insert into mail_bounce (account_id, destination, since) values (?, 'a@x.example', ?), (?, 'b@x.example', ?)`,
      [accountId, daysAgo(31), accountId, daysAgo(29)],
    );

    expect(await purge()).toMatchObject({ mail_bounce: 1 });
    expect(await countOf('mail_bounce')).toBe(1);
  });

  describe('private keys', () => {
    /** An enterprise whose certificate, which `cfes` CFEs were numbered with, was replaced so many days ago. */
    async function replaced(days: number, cfes: Partial<Cfe>[] = []): Promise<string> {
      const rut = await aReadyEnterprise(db.orm, accountId);
      const before = await findCurrentSigner(db.orm.em.fork(), rut, 'production');
      if (!before) throw new Error('it has no certificate');
      for (const values of cfes) {
        const body = fromJson(JSON.stringify(aCfeBody()));
        const { id } = await issueCfe(webhookDeps(db.orm), {
          accountId,
          rut,
          environment: 'production',
          body,
        });
        await db.orm.em.fork().nativeUpdate(Cfe, { id }, values);
      }
      await db.orm.em.fork().transactional(async (em) => {
        const { id: _before, replacedAt: _never, ...values } = before;
        await replaceCertificate(em, { ...values, id: randomUUID(), createdAt: daysAgo(days) });
      });
      return before.id;
    }
    const certificate = (id: string) => requireSigner(db.orm.em.fork(), id);
    const hasKey = async (id: string): Promise<boolean> => (await certificate(id)).sealedKey !== null;

    test('of replaced certificates go after their days; those of current ones and the certificates themselves stay', async () => {
      const [old, lately] = [await replaced(31), await replaced(29)];

      expect(await purge()).toMatchObject({ certificate: 1 });

      expect([await hasKey(old), await hasKey(lately)]).toEqual([false, true]);
      const gone = await certificate(old);
      expect(gone.certificate.length).toBeGreaterThan(0);
      expect(() => createKeyOpener(aKeyPair().opener)(gone)).toThrow('was deleted');
      const current = await db.orm.em
        .fork()
        .find(Certificate, { replacedAt: null }, { populate: ['sealedKey'] });
      expect(current.every(({ sealedKey }) => sealedKey !== null)).toBe(true);
    });

    test('stay while a CFE is to be signed, however long it is stuck; signed or ended, it needs none', async () => {
      const unsigned = await replaced(400, [{}, { status: 'REJECTED', settledAt: NOW }]);
      const stuck = await replaced(400, [{ stuckReason: 'signing' }]);
      const signed = await replaced(400, [{ signedXml: '<CFE/>', digest: 'x' }]);
      const ended = await replaced(400, [{ status: 'REJECTED', settledAt: NOW }]);

      await purge();

      expect(await Promise.all([unsigned, stuck, signed, ended].map(hasKey))).toEqual([
        true,
        true,
        false,
        false,
      ]);
      await db.orm.em
        .fork()
        .nativeUpdate(Cfe, { certificateId: stuck }, { signedXml: '<CFE/>', digest: 'x' });
      await purge();
      expect(await hasKey(stuck)).toBe(false);
    });

    test('that are gone are no work for the rotation of the keys that seal', async () => {
      const [old, lately] = [await replaced(31), await replaced(29)];
      await purge();
      const em = db.orm.em.fork();
      const [column] = SEALED_COLUMNS;
      if (!column) throw new Error('certificates come first');

      const left = await listSealedUnderOtherKeys(em, column, {
        keyId: 'new',
        after: undefined,
        limit: 1_000,
      });

      expect(left.map(({ id }) => id)).toContain(lately);
      expect(left.map(({ id }) => id)).not.toContain(old);
      const counted = (await countSealedByKey(em, column)).reduce((sum, { count }) => sum + count, 0);
      expect(counted).toBe(left.length);
    });

    test('a current certificate cannot lose its key', async () => {
      await expect(
        execute('update certificate set sealed_key = null where replaced_at is null'),
      ).rejects.toThrow('certificate_key');
    });
  });

  test('CFEs, signed XML and the audit stay', async () => {
    const count = async () =>
      execute(
        'select (select count(*) from cfe) as cfes, (select count(*) from audit) as acts, (select count(*) from cfe where signed_xml is not null) as signed',
      );
    const before = await count();

    await purge({ now: new Date('2099-01-01T00:00:00Z') });

    expect(await count()).toEqual(before);
  });
});
