import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRateLookup } from '../../../src/activities/receipts/lookUpRates.ts';
import { listRates, putRates } from '../../../src/db/receipts/rates.ts';
import { createCentralBank } from '../../../src/dgi/centralBank.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { freePort } from '../../support/processes/services.ts';
import { aSimulator, field, fields, portal, type TestSimulator } from '../../support/simulator/world.ts';

let simulator: TestSimulator;
let db: TestDatabase;
beforeAll(async () => {
  simulator = await aSimulator();
  db = await cloneDatabase({ worker: true });
});
afterAll(async () => {
  await simulator.stop();
  await db[Symbol.asyncDispose]();
});

const bank = (): string => `${simulator.url}/wscotizaciones/servlet`;
const put = (date: string, rates: unknown) => portal(simulator.url, 'PUT', `/portal/rates/${date}`, rates);
const centralBank = (url = bank()) =>
  createCentralBank({ url, timeouts: { connectSeconds: 5, answerSeconds: 20 } });
const lookUpRates = (url = bank()) => createRateLookup({ orm: db.worker, centralBank: centralBank(url) });

/** A call as any client would make it. */
async function call(program: string, inner: string): Promise<string> {
  const response = await fetch(`${bank()}/${program}`, {
    method: 'POST',
    headers: { 'content-type': 'text/xml', connection: 'close' },
    body: `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns:cot="Cotiza"><e:Body>${inner}</e:Body></e:Envelope>`,
  });
  return response.text();
}
const question = (from: string, to: string, ...numbers: number[]) =>
  `<cot:wsbcucotizaciones.Execute><cot:Entrada><cot:Moneda>${numbers.map((one) => `<cot:item>${one}</cot:item>`).join('')}</cot:Moneda><cot:FechaDesde>${from}</cot:FechaDesde><cot:FechaHasta>${to}</cot:FechaHasta><cot:Grupo>0</cot:Grupo></cot:Entrada></cot:wsbcucotizaciones.Execute>`;

describe('the central bank of the simulator', () => {
  test('quotes every weekday, the same each time, and no Saturday or Sunday', async () => {
    const ask = () => call('awsbcucotizaciones', question('2026-03-06', '2026-03-10', 2225, 1111));
    const answer = await ask();
    const days = fields(answer, 'Fecha').join(' ');
    expect(days).toBe('2026-03-06 2026-03-06 2026-03-09 2026-03-09 2026-03-10 2026-03-10');
    expect(new Set(fields(answer, 'CodigoISO'))).toEqual(new Set(['USD', 'EUR']));
    expect([field(answer, 'status'), field(answer, 'codigoerror')]).toEqual(['1', '0']);
    for (const rate of fields(answer, 'TCC')) expect(rate).toMatch(/^4\d\.\d{6}$/);
    expect(await ask()).toBe(answer);
  });

  test('answers code 100 without a quotation, 103 to days in the wrong order, a fault to nonsense', async () => {
    const none = await call('awsbcucotizaciones', question('2026-03-07', '2026-03-08', 2225));
    expect([field(none, 'status'), field(none, 'codigoerror')]).toEqual(['0', '100']);
    const wrong = await call('awsbcucotizaciones', question('2026-03-10', '2026-03-09', 2225));
    expect([field(wrong, 'status'), field(wrong, 'codigoerror')]).toEqual(['0', '103']);
    expect(await call('awsultimocierre', question('2026-03-10', '2026-03-10', 2225))).toContain('Fault');
    expect(await call('awsbcucotizaciones', '<x/>')).toContain('Fault');
  });

  test('the last closing is a weekday, today’s from 18:00 on, or a later one that was put', async () => {
    const closing = await centralBank().lastClosing();
    expect([0, 6]).not.toContain(new Date(`${closing}T00:00:00Z`).getUTCDay());
    const local = new Date(Date.now() - 3 * 3_600_000).toISOString();
    if (local.slice(11, 13) < '18') expect(closing < local.slice(0, 10)).toBe(true);
    await put(local.slice(0, 10), { USD: '40.5' });
    expect(await centralBank().lastClosing()).toBe(local.slice(0, 10));
  });

  test.each([
    ['2026-13-01', {}],
    ['2026-03-10', { GBP: '1' }],
    ['2026-03-10', { USD: '0' }],
    ['2026-03-10', { USD: 'x' }],
  ])('PUT /portal/rates/%s %j is refused', async (date, rates) => {
    expect((await put(date, rates)).status).toBe(400);
  });
});

describe('the rates that count', () => {
  const usd = (date: string) => ({ currency: 'USD', date });

  test('are the bank’s, with all decimals, the Friday’s for a weekend, and stored', async () => {
    await put('2026-04-10', { USD: '40.123456', EUR: '45.5' });
    const answers = await lookUpRates()([usd('2026-04-12'), { currency: 'EUR', date: '2026-04-10' }]);
    expect(answers).toEqual([
      { kind: 'known', currency: 'USD', date: '2026-04-10', rate: '40.123456', source: 'BCU 2225' },
      { kind: 'known', currency: 'EUR', date: '2026-04-10', rate: '45.5', source: 'BCU 1111' },
    ]);
    // Now it is known without the bank.
    expect(await lookUpRates('http://127.0.0.1:1')([usd('2026-04-12')])).toEqual([answers[0]]);
  });

  test('of a holiday are those of the last working day before, which is told and stored', async () => {
    await put('2026-05-01', { USD: null });
    await put('2026-04-30', { USD: '41.25' });
    const [answer] = await lookUpRates()([usd('2026-05-01')]);
    expect(answer).toEqual({
      kind: 'known',
      currency: 'USD',
      date: '2026-05-01',
      rate: '41.25',
      source: 'BCU 2225, closing of 2026-04-30',
    });
    expect(await lookUpRates('http://127.0.0.1:1')([usd('2026-05-01')])).toEqual([answer]);
  });

  test('of a currency that is quoted nowhere are none, and nobody asks', async () => {
    expect(await lookUpRates('http://127.0.0.1:1')([{ currency: 'JPY', date: '2026-04-10' }])).toEqual([
      { kind: 'unquoted' },
    ]);
  });

  test('of a day that is not closed are awaited, with the last that is known', async () => {
    const answers = await lookUpRates()([usd('2050-06-01')]);
    expect(answers).toMatchObject([{ kind: 'awaited', why: 'not_closed', lastKnown: { currency: 'USD' } }]);
  });

  test('are awaited while the bank does not answer, with the last that is known or none', async () => {
    const nowhere = lookUpRates(`http://127.0.0.1:${await freePort()}`);
    await putRates(db.orm.em.fork(), [{ ...usd('2020-01-02'), rate: '37.1', source: 'a test' }]);
    expect(await nowhere([usd('2020-01-06'), usd('2019-12-30')])).toEqual([
      {
        kind: 'awaited',
        why: 'unreachable',
        lastKnown: { ...usd('2020-01-02'), rate: '37.1', source: 'a test' },
      },
      { kind: 'awaited', why: 'unreachable', lastKnown: null },
    ]);
  });

  test('that an operator loaded stay, whatever the bank says, and a Sunday’s goes before the Friday’s', async () => {
    const loaded = { ...usd('2026-06-07'), rate: '39.9', source: 'letter of the bank' };
    await putRates(db.orm.em.fork(), [loaded]);
    expect(await lookUpRates()([usd('2026-06-07')])).toEqual([{ kind: 'known', ...loaded }]);
    await lookUpRates()([usd('2026-06-08')]);
    expect(await listRates(db.orm.em.fork())).toContainEqual(loaded);
  });

  test('are asked for once by many at the same time, and stored once', async () => {
    const shared = lookUpRates();
    const [first, ...others] = await Promise.all([
      ...Array.from({ length: 10 }, () => shared([usd('2026-07-07'), usd('2026-07-08')])),
      ...Array.from({ length: 10 }, () => lookUpRates()([usd('2026-07-08'), usd('2026-07-07')])),
    ]);
    expect(first).toMatchObject([{ kind: 'known' }, { kind: 'known' }]);
    for (const answer of others) expect(answer.toSorted(byDay)).toEqual(first?.toSorted(byDay));
    const stored = (await listRates(db.orm.em.fork())).filter(({ date }) => date === '2026-07-08');
    expect(stored).toHaveLength(1);
  });

  const byDay = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
});
