import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordExpiries } from '../../../src/activities/enterprises/recordExpiries.ts';
import { addWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { countRecentNumbers } from '../../../src/db/enterprises/warnings.ts';
import type { CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { anAccount, eventsOf } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anEnterprise, giveCae, giveCertificate } from '../../support/enterprises/enterprises.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { deliveriesTo, webhookDeps } from '../../support/webhooks/deliveries.ts';

const DAY = 86_400_000;
const NOW = new Date('2026-11-22T15:00:00Z');
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY);

let db: TestDatabase;
let owner: string;
beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  owner = await anAccount(db.orm);
});
afterAll(() => db[Symbol.asyncDispose]());

const enterprise = () => anEnterprise(db.orm, owner, { createdAt: daysAgo(400) });
/** Looks for warnings as the activity does. */
const lookAt = (clock: Date) =>
  asActivity(createRecordExpiries({ orm: db.worker, clock: () => clock, page: 2 }));
const warningsOf = async (rut: string) =>
  (await eventsOf(db.orm, rut)).filter(({ event }) => event !== 'enterprise.updated');

/** As if CFEs of the type had been taken at these moments, in this order; undefined leaves a hole. */
async function taken(rut: string, type: CfeType, moments: readonly (Date | undefined)[]): Promise<void> {
  const caeId = await giveCae(db.orm, rut, { type, serie: 'Z', from: 1_000_000, to: 1_999_999 });
  const em = db.orm.em.fork();
  const certificate = await em.execute<{ id: string }[]>('select id from certificate where rut = ?', [rut]);
  if (!certificate[0]) await giveCertificate(db.orm, rut);
  for (const [place, at] of moments.entries()) {
    if (!at) continue;
    await em.execute(
      `insert into cfe (id, held, receipt_token, account_id, rut, environment, type, sequence, cae_id, serie, numero, status,
         emission_date, currency, pay_amount, document, certificate_id, created_at)
       select gen_random_uuid(), false, gen_random_uuid(), ?, ?, 'production', ?, ?, ?, 'Z', ?, 'PENDING', current_date,
         'UYU', 1, '{}', id, ?
       from certificate where rut = ? limit 1`,
      [owner, rut, type, place + 1, caeId, 1_000_000 + place, at, rut],
    );
  }
  await em.execute(`insert into cfe_sequence (rut, environment, type, last) values (?, 'production', ?, ?)`, [
    rut,
    type,
    moments.length,
  ]);
}

describe('how many numbers were used lately', () => {
  test.each([
    ['none at all', [], 0],
    ['all before', [daysAgo(60), daysAgo(40), daysAgo(29)], 0],
    ['all since', [daysAgo(27), daysAgo(3), NOW], 3],
    ['some before, some since', [daysAgo(90), daysAgo(29), daysAgo(27), daysAgo(2), NOW], 3],
    ['places that a recovery skipped', [daysAgo(90), undefined, undefined, daysAgo(27), NOW], 2],
  ] as const)('%s', async (_, moments, used) => {
    const rut = await enterprise();
    await taken(rut, 'ETICKET', moments);
    await taken(rut, 'EFACTURA', [daysAgo(1)]);

    const found = (await countRecentNumbers(db.orm.em.fork(), [rut], NOW)).get(rut);

    expect(found?.get('ETICKET')).toBe(used);
    expect(found?.get('EFACTURA')).toBe(1);
  });

  test('any number of them agrees with counting', async () => {
    for (const [before, since] of [
      [0, 1],
      [1, 0],
      [7, 9],
      [16, 1],
      [33, 40],
    ] as const) {
      const rut = await enterprise();
      await taken(rut, 'ETICKET', [
        ...Array.from({ length: before }, (_, i) => daysAgo(100 - i)),
        ...Array.from({ length: since }, () => daysAgo(1)),
      ]);
      expect((await countRecentNumbers(db.orm.em.fork(), [rut], NOW)).get(rut)?.get('ETICKET')).toBe(since);
    }
  });
});

describe('warnings', () => {
  test('are given once, to the webhooks that select them, the next one when its day comes', async () => {
    const rut = await enterprise();
    await giveCertificate(db.orm, rut, { notAfter: new Date('2026-12-10T15:00:00Z') });
    await giveCae(db.orm, rut, { from: 1, to: 100, last: 20, expirationDate: '2026-12-15' });
    const { webhook } = await addWebhook(webhookDeps(db.orm), {
      accountId: owner,
      url: 'https://hooks.example.com/',
      events: ['cae.expiring'],
    });

    for (const at of [NOW, NOW, new Date('2026-12-04T15:00:00Z'), new Date('2026-12-09T15:00:00Z')]) {
      await lookAt(at);
    }

    const certificate = (days: number) => ({
      event: 'certificate.expiring',
      data: { enterprise_rut: rut, expiration_date: '2026-12-10', days_left: days },
    });
    const cae = (days: number) => ({
      event: 'cae.expiring',
      data: expect.objectContaining({ numbers_left: 80, expiration_date: '2026-12-15', days_left: days }),
    });
    expect((await warningsOf(rut)).map(({ event, data }) => ({ event, data }))).toEqual([
      certificate(18),
      cae(23),
      certificate(6),
      certificate(1),
      cae(6),
    ]);
    expect(await deliveriesTo(db.orm, webhook.id)).toHaveLength(2);
  });

  test('of low numbers come again when a new CAE has run low in its turn', async () => {
    const rut = await enterprise();
    await giveCae(db.orm, rut, { from: 1, to: 100, last: 95 });
    await lookAt(NOW);
    await lookAt(NOW);
    await giveCae(db.orm, rut, { serie: 'B', from: 1, to: 100 });
    await lookAt(NOW);
    await db.orm.em.fork().execute('update cae set last_number = 98 where rut = ?', [rut]);
    await lookAt(NOW);

    expect((await warningsOf(rut)).map(({ event, data }) => [event, data['numbers_left']])).toEqual([
      ['cae.low', 5],
      ['cae.low', 4],
    ]);
  });

  test('are given once by two who look at the same time', async () => {
    const ruts = await Promise.all(Array.from({ length: 5 }, enterprise));
    for (const rut of ruts) await giveCae(db.orm, rut, { from: 1, to: 100, last: 95 });

    await Promise.all([lookAt(NOW), lookAt(NOW), lookAt(NOW)]);

    for (const rut of ruts) expect(await warningsOf(rut)).toHaveLength(1);
  });
});
