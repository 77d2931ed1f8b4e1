import { expect, test } from '@jest/globals';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { CFE_TYPES, type CfeType } from '../../../../src/domain/receipts/cfeTypes.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import type { HttpClient } from '../../../support/api/http.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type Body } from '../../../support/receipts/cfeBodies.ts';
import { day } from '../../../support/receipts/papers.ts';

const suite = useApi();
const ready = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const client = () => suite.owner.client;
const reason = 'Devolución';
const byNumber = (a: number, b: number): number => a - b;

interface Issued {
  cfe_id: string;
  cfe_type: string;
  cfe_status: string;
  pay_amount: number;
  total_amount: number;
  currency: string;
  exchange_rate: number;
  receiver: unknown;
}
interface Credit {
  left: { amount: number; lines: { line_number: number; count: number; amount: number }[] };
  notes: { cfe_id: string; cfe_status: string; amount: number }[];
}

async function issue(rut: string, body: Body, by: HttpClient = client()): Promise<Issued> {
  const { status, data } = await by.post<Issued>(`/enterprises/${rut}/cfes`, body);
  expect(status).toBe(201);
  return data;
}
const credit = (rut: string, cfeId: string, request: Body = {}, headers: Record<string, string> = {}) =>
  client().post<Issued>(`/enterprises/${rut}/cfes/${cfeId}/credit-notes`, { reason, ...request }, headers);
const readCredit = async (rut: string, cfeId: string): Promise<Credit> =>
  (await client().get<Credit>(`/enterprises/${rut}/cfes/${cfeId}/credit`)).data;

/** Three kilos of 199.90 with VAT and a book without it, less 5 % of the taxed. */
const sale = (): Body => ({
  cfe_type: 'ETICKET',
  header: {
    doc_id: { emission_date: day(0), payment_method: 'CREDIT' },
    totals: {
      currency: 'UYU',
      exchange_rate: 1,
      tax_basic_net_amount: 466.98,
      tax_basic_amount: 102.73,
      tax_free_amount: 100,
      total_amount: 669.71,
      pay_amount: 669.71,
      line_count: 2,
    },
    adjustments: [{ kind: 'DISCOUNT', iva_type: 'BASIC_RATE', description: 'Club', percent: 5 }],
  },
  details: [
    {
      line_number: 1,
      iva_type: 'BASIC_RATE',
      item_name: 'Yerba',
      count: 3,
      unit_price: 199.9,
      item_amount: 599.7,
    },
    { line_number: 2, iva_type: 'EXEMPT', item_name: 'Libro', count: 1, unit_price: 100, item_amount: 100 },
  ],
});

test('notes of a line, an amount, a percentage and the rest come to the receipt', async () => {
  const rut = await ready();
  const { cfe_id } = await issue(rut, sale());
  expect(await readCredit(rut, cfe_id)).toEqual({
    left: {
      amount: 669.71,
      lines: [
        { line_number: 1, count: 3, amount: 599.7 },
        { line_number: 2, count: 1, amount: 100 },
      ],
    },
    notes: [],
  });
  const one = await credit(rut, cfe_id, { lines: [{ line_number: 1, count: 1 }] });
  expect([one.status, one.data.cfe_type, one.data.pay_amount]).toEqual([201, 'ETICKET_NC', 189.9]);
  const two = await credit(rut, cfe_id, { amount: 50, emission_date: day(0), payment_method: 'CASH' });
  expect(two.data.pay_amount).toBe(50);
  const three = await credit(rut, cfe_id, { percent: 10 });
  expect(three.data.pay_amount).toBe(66.97);
  const { left } = await readCredit(rut, cfe_id);
  expect(left.amount).toBe(362.84);
  expect(left.lines.map(({ count }) => count)).toEqual([2, 1]);
  const rest = await credit(rut, cfe_id);
  expect(rest.data.pay_amount).toBe(362.84);
  const end = await readCredit(rut, cfe_id);
  expect(end.left).toEqual({ amount: 0, lines: [] });
  expect(end.notes.map(({ amount }) => amount)).toEqual([189.9, 50, 66.97, 362.84]);
  expectFaults(await credit(rut, cfe_id), [['', 'credit.nothing_left', /^Nothing/]]);

  const notes = await suite.db.orm.em.fork().find(Cfe, { rut, type: 'ETICKET_NC' });
  const sum = (of: (note: Cfe) => string) =>
    notes.reduce((all, note) => all + Math.round(Number(of(note)) * 100), 0);
  expect(sum(({ document }) => document.totals.basicNet)).toBe(46_698);
  expect(sum(({ document }) => document.totals.basicVat)).toBe(10_273);
  expect(sum(({ document }) => document.totals.exempt)).toBe(10_000);
  expect(notes.map(({ document }) => [document.references?.[0]?.reason, document.pricesIncludeVat])).toEqual(
    Array.from({ length: 4 }, () => [reason, true]),
  );
  expect(notes.map(({ document }) => document.paymentMethod).toSorted(byNumber)).toEqual([1, 2, 2, 2]);
});

test.each(['ETICKET', 'EFACTURA', 'EFACTURA_EXPORT', 'ETICKET_ND'] as const)(
  'all of a receipt of type %s, with its receiver, currency and rate',
  async (type: CfeType) => {
    const rut = await ready();
    const first = type.endsWith('_ND') ? await issue(rut, aCfeBody()) : undefined;
    const wishes = {
      type,
      currency: 'USD',
      exchangeRate: 40.5,
      ...(first ? { reference: first.cfe_id } : {}),
    } as const;
    const original = await issue(rut, aCfeBody(wishes));
    const { status, data } = await credit(rut, original.cfe_id);
    expect(status).toBe(201);
    const family = type.replace('_ND', '') as 'ETICKET';
    expect(data.cfe_type).toBe(`${family}_NC`);
    const { pay_amount, total_amount, currency, exchange_rate, receiver } = original;
    expect(data).toMatchObject({ pay_amount, total_amount, currency, exchange_rate, receiver });
  },
);

test('in the sandbox too', async () => {
  const rut = await aReadyEnterprise(suite.db.orm, suite.sandbox.accountId);
  await giveCertificate(suite.db.orm, rut, { environment: 'sandbox' });
  for (const type of ['ETICKET', 'ETICKET_NC'] as const)
    await giveCae(suite.db.orm, rut, { environment: 'sandbox', type, serie: 'T' });
  const { cfe_id } = await issue(rut, aCfeBody(), suite.sandbox.client);
  const path = `/enterprises/${rut}/cfes/${cfe_id}/credit-notes`;
  const { status, data } = await suite.sandbox.client.post<Issued>(path, { reason, percent: 50 });
  expect([status, data.pay_amount]).toEqual([201, 61]);
});

test('a repeated key answers the first note; a trial stores nothing', async () => {
  const rut = await ready();
  const { cfe_id } = await issue(rut, aCfeBody());
  const trial = await client().post<{ totals: { pay_amount: number } }>(
    `/enterprises/${rut}/cfes/${cfe_id}/credit-notes?validate_only=true`,
    { reason },
  );
  expect([trial.status, trial.data.totals.pay_amount]).toEqual([200, 122]);
  expect((await readCredit(rut, cfe_id)).notes).toEqual([]);
  const key = { 'idempotency-key': `credit-${rut}` };
  const first = await credit(rut, cfe_id, {}, key);
  const again = await credit(rut, cfe_id, {}, key);
  expect([first.status, again.status, again.data]).toEqual([201, 201, first.data]);
  expectRefusal(await credit(rut, cfe_id, { percent: 1 }, key), 422, 'IDEMPOTENCY_KEY_REUSED');
});

test('the same key twice at once answers one note', async () => {
  const rut = await ready();
  const { cfe_id } = await issue(rut, aCfeBody());
  const key = { 'idempotency-key': `twins-${rut}` };
  const twins = await Promise.all(Array.from({ length: 4 }, () => credit(rut, cfe_id, {}, key)));
  const taken = twins.filter(({ status }) => status === 201);
  expect(new Set(taken.map(({ data }) => data.cfe_id)).size).toBe(1);
  // The others are told to try again, never that nothing is left.
  expect(twins.filter(({ status }) => status !== 201).every(({ status }) => status === 409)).toBe(true);
  expect((await readCredit(rut, cfe_id)).notes).toHaveLength(1);
});

test('lines together never take more than the receipt is worth', async () => {
  const rut = await ready();
  const body = aCfeBody() as { header: { totals: Body }; details: Body[] } & Body;
  Object.assign(body.header.totals, { pay_amount: 72, line_count: 3 });
  for (const [iva_type, price] of [
    ['NON_BILLABLE', 20],
    ['NON_BILLABLE_NEGATIVE', 70],
  ] as const) {
    const line_number = body.details.length + 1;
    const amounts = { count: 1, unit_price: price, item_amount: price };
    body.details.push({ line_number, iva_type, item_name: 'Seña', ...amounts });
  }
  const { cfe_id } = await issue(rut, body);
  const lines = [
    { line_number: 1, count: 1 },
    { line_number: 2, count: 1 },
  ];
  expectFaults(await credit(rut, cfe_id, { lines }), [['/lines', 'credit.too_much', /122\.00 UYU.*142\.00/]]);
  expect((await credit(rut, cfe_id, { lines: lines.slice(0, 1) })).data.pay_amount).toBe(122);
});

test('many at once never credit more than there is, and come to all of it', async () => {
  const rut = await ready();
  const { cfe_id } = await issue(rut, sale());
  const answers = await Promise.all(Array.from({ length: 8 }, () => credit(rut, cfe_id, { percent: 15 })));
  expect(answers.map(({ status }) => status).toSorted(byNumber)).toEqual([
    201, 201, 201, 201, 201, 201, 400, 400,
  ]);
  const all = await Promise.all([credit(rut, cfe_id), credit(rut, cfe_id)]);
  expect(all.map(({ status }) => status).toSorted(byNumber)).toEqual([201, 400]);
  const { left, notes } = await readCredit(rut, cfe_id);
  expect(left.amount).toBe(0);
  expect(notes.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0)).toBe(66_971);
});

test('a note with lines of its own counts by its amount; a rejected one does not count', async () => {
  const rut = await ready();
  const { cfe_id } = await issue(rut, aCfeBody({ net: 200 }));
  const free = await issue(rut, aCfeBody({ type: 'ETICKET_NC', reference: cfe_id, net: 100 }));
  expect(await readCredit(rut, cfe_id)).toMatchObject({
    left: { amount: 122, lines: [{ line_number: 1, count: 1, amount: 100 }] },
    notes: [{ cfe_id: free.cfe_id, amount: 122 }],
  });
  expectFaults(await credit(rut, cfe_id, { amount: 122.01 }), [
    ['/amount', 'credit.too_much', /122\.00 UYU.*122\.01/],
  ]);
  expect((await credit(rut, cfe_id)).data.pay_amount).toBe(122);
  await suite.db.orm.em
    .fork()
    .nativeUpdate(
      Cfe,
      { rut, type: 'ETICKET_NC', sequence: Number(free.cfe_id.split('-')[1]) },
      { status: 'REJECTED', settledAt: new Date() },
    );
  expect((await readCredit(rut, cfe_id)).left.amount).toBe(122);
  expect((await credit(rut, cfe_id)).data.pay_amount).toBe(122);
});

test('an invoice with a deposit taken off may be credited without it', async () => {
  const rut = await ready();
  const body = aCfeBody() as { header: { totals: Body }; details: Body[] } & Body;
  Object.assign(body.header.totals, { pay_amount: 72, line_count: 2 });
  body.details.push({
    line_number: 2,
    iva_type: 'NON_BILLABLE_NEGATIVE',
    item_name: 'Seña',
    count: 1,
    unit_price: 50,
    item_amount: 50,
  });
  const first = await issue(rut, body);
  await issue(rut, aCfeBody({ type: 'ETICKET_NC', reference: first.cfe_id }));
  expect((await readCredit(rut, first.cfe_id)).left).toEqual({ amount: 0, lines: [] });

  const second = await issue(rut, body);
  const goods = await credit(rut, second.cfe_id, { lines: [{ line_number: 1, count: 1 }] });
  expect(goods.data.pay_amount).toBe(122);
  expect((await credit(rut, second.cfe_id)).data.pay_amount).toBe(-50);
  const third = await issue(rut, body);
  const all = await credit(rut, third.cfe_id);
  expect([all.data.total_amount, all.data.pay_amount]).toEqual([122, 72]);
});

test('each fault has the field of the request', async () => {
  const rut = await ready();
  const { cfe_id } = await issue(rut, sale());
  const refused = async (request: Body, faults: Parameters<typeof expectFaults>[1]) =>
    expectFaults(await credit(rut, cfe_id, request), faults);
  await refused({ percent: 1, amount: 1 }, [['', 'body.one_of', /percent and amount/]]);
  await refused({ lines: [{ line_number: 1 }] }, [['/lines/0', 'body.one_of', /neither/]]);
  await refused({ percent: 100.01 }, [['/percent', 'credit.too_much', /669\.71/]]);
  await refused({ percent: 0 }, [['/percent', 'credit.too_little', /0\.01/]]);
  await refused({ amount: 669.72 }, [['/amount', 'credit.too_much', /669\.71/]]);
  await refused(
    {
      lines: [
        { line_number: 1, count: 3.001 },
        { line_number: 2, amount: 100.01 },
        { line_number: 2, amount: 1 },
        { line_number: 3, count: 1 },
      ],
    },
    [
      ['/lines/0/count', 'credit.too_much', /3 that are left/],
      ['/lines/1/amount', 'credit.too_much', /100\.00/],
      ['/lines/2/line_number', 'credit.line', /again/],
      ['/lines/3/line_number', 'credit.line', /1 to 2/],
    ],
  );
  await refused({ lines: [{ line_number: 1, count: 0 }] }, [
    ['/lines/0/count', 'credit.too_little', /above 0/],
  ]);
  await refused({ emission_date: day(-61) }, [
    ['/emission_date', 'emission_date.too_early', /^emission_date: must/],
  ]);
  await refused({ emission_date: '0361-02-25' }, [
    ['/emission_date', 'emission_date.too_early', /found 0361/],
  ]);
  const note = await credit(rut, cfe_id, { percent: 1 });
  expectFaults(await credit(rut, note.data.cfe_id), [['/path/cfe_id', 'credit.original', /ETICKET_NC/]]);
  expect((await readCredit(rut, note.data.cfe_id)).left).toEqual({ amount: 0, lines: [] });
  expectRefusal(await credit(rut, `${CFE_TYPES.ETICKET.code}-999`), 404, 'NOT_FOUND');
});
