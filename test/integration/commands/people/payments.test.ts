import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type UpdateEnterpriseDeps,
  updateEnterprise,
} from '../../../../src/commands/enterprises/updateEnterprise.ts';
import { cancelPayment, settlePayment } from '../../../../src/commands/people/payments.ts';
import type { Payment } from '../../../../src/db/entities/enterprises.ts';
import { Event } from '../../../../src/db/entities/webhooks.ts';
import { listPayments } from '../../../../src/db/people/payments.ts';
import { anAccount, eventsOf, idleOutbox, outboxOf } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { anEnterprise as enterpriseOf } from '../../../support/enterprises/enterprises.ts';

const NOW = new Date('2026-03-02T13:00:00Z');
let db: TestDatabase;
let deps: UpdateEnterpriseDeps;
let accountId: string;

beforeAll(async () => {
  db = await cloneDatabase();
  deps = {
    orm: db.orm,
    clock: () => NOW,
    outbox: idleOutbox,
    checkoutUrl: 'https://pay.example/checkout/?lang=es',
  };
  accountId = await anAccount(db.orm);
});
afterAll(() => db[Symbol.asyncDispose]());

const anEnterprise = () => enterpriseOf(db.orm, accountId);
const choose = (rut: string, plan_id: string, frequency_id: string) =>
  updateEnterprise(deps, { rut, update: { plan_id, frequency_id } });
const paymentsOf = (rut: string) => listPayments(db.orm.em.fork(), { rut });
const namesOf = async (rut: string) => (await eventsOf(db.orm, rut)).map(({ event }) => event);

async function aPayment(): Promise<Payment> {
  const rut = await anEnterprise();
  await choose(rut, 'STANDARD', 'MONTHLY');
  const [payment] = await paymentsOf(rut);
  if (!payment) throw new Error('no payment');
  return payment;
}

describe('choosing a plan', () => {
  test('with a price makes a payment, and tells of it in the same transaction', async () => {
    const rut = await anEnterprise();

    await choose(rut, 'STANDARD', 'YEARLY');

    const [payment, ...others] = await paymentsOf(rut);
    expect(others).toEqual([]);
    expect(payment).toMatchObject({
      rut,
      planId: 'STANDARD',
      frequencyId: 'YEARLY',
      amount: '9900.00',
      currency: 'UYU',
      status: 'PENDING',
      redirectUrl: `https://pay.example/checkout/${payment?.id}?lang=es`,
      createdAt: NOW,
      settledAt: null,
    });
    const row = await db.orm.em.fork().findOneOrFail(Event, { rut, name: 'payment.created' });
    expect(row).toMatchObject({ environment: 'production', createdAt: NOW });
    expect(row.body).toBe(
      `{"event":"payment.created","timestamp":"2026-03-02T13:00:00.000Z","data":{"payment_id":"${payment?.id}",` +
        `"enterprise_rut":"${rut}","amount":9900,"currency":"UYU","status":"PENDING",` +
        `"redirect_url":"https://pay.example/checkout/${payment?.id}?lang=es","created_at":"2026-03-02T13:00:00.000Z"}}`,
    );
  });

  test('without a price makes none', async () => {
    const rut = await anEnterprise();

    await choose(rut, 'FREE', 'MONTHLY');

    expect(await paymentsOf(rut)).toEqual([]);
    expect(await namesOf(rut)).toEqual(['enterprise.updated']);
  });

  test('again changes nothing: no payment, no event, no word to the onboarding', async () => {
    const rut = await anEnterprise();
    await choose(rut, 'STANDARD', 'MONTHLY');

    await choose(rut, 'STANDARD', 'MONTHLY');
    await updateEnterprise(deps, { rut, update: { plan_id: 'STANDARD' } });

    expect(await paymentsOf(rut)).toHaveLength(1);
    expect(await namesOf(rut)).toEqual(['payment.created', 'enterprise.updated']);
    expect(await outboxOf(db.orm, `enterprise:${rut}`)).toHaveLength(1);
  });

  test('another each time is a payment each time; many at once make one', async () => {
    const rut = await anEnterprise();

    await Promise.all(Array.from({ length: 5 }, () => choose(rut, 'STANDARD', 'MONTHLY')));
    await choose(rut, 'STANDARD', 'YEARLY');
    await choose(rut, 'FREE', 'MONTHLY');

    expect((await paymentsOf(rut)).map(({ frequencyId }) => frequencyId).toSorted()).toEqual([
      'MONTHLY',
      'YEARLY',
    ]);
  });

  test('that is not on sale makes neither payment nor event', async () => {
    const rut = await anEnterprise();

    await expect(choose(rut, 'STANDARD', 'DAILY')).rejects.toMatchObject({ code: 'INVALID_INPUT' });

    expect(await paymentsOf(rut)).toEqual([]);
    expect(await namesOf(rut)).toEqual([]);
  });
});

describe.each([
  ['settlePayment', settlePayment, 'PAID'],
  ['cancelPayment', cancelPayment, 'CANCELLED'],
] as const)('%s', (_, move, status) => {
  test(`makes a PENDING payment ${status}`, async () => {
    const { id: paymentId, rut } = await aPayment();

    expect(await move(deps, { paymentId })).toMatchObject({ id: paymentId, status, settledAt: NOW });
    expect(await paymentsOf(rut)).toMatchObject([{ status, settledAt: NOW }]);
  });

  test('refuses one that is settled already, in whichever way', async () => {
    const { id: paymentId, rut } = await aPayment();
    await move(deps, { paymentId });

    for (const again of [settlePayment, cancelPayment]) {
      await expect(again(deps, { paymentId })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(`is ${status}`),
      });
    }
    expect(await paymentsOf(rut)).toMatchObject([{ status }]);
  });

  test.each(['nonsense', '0c0e1ab1-0000-4000-8000-00000000ffff'])(
    'refuses the unknown %s',
    async (paymentId) => {
      await expect(move(deps, { paymentId })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    },
  );
});
