import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { putRates } from '../../../../src/db/receipts/rates.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectFaults } from '../../../support/api/expectRefusal.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { day } from '../../../support/receipts/papers.ts';

const suite = useApi();
let rut: string;
beforeAll(async () => {
  rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, { caes: [{ type: 'ETICKET' }] });
  await putRates(suite.db.orm.em.fork(), [
    { currency: 'USD', date: day(-9), rate: '20', source: 'a test' },
    { currency: 'USD', date: day(-3), rate: '40', source: 'a test' },
    // Of the day itself: not known before it.
    { currency: 'USD', date: day(0), rate: '400', source: 'a test' },
  ]);
});

interface Answer {
  cfe_id: string;
  warnings: { code: string; path: string; message: string }[];
}
const inDollars = (exchangeRate: number, more = {}) => aCfeBody({ currency: 'USD', exchangeRate, ...more });
const post = (body: unknown, { query = '', key = randomUUID() } = {}) =>
  suite.owner.client.post<Answer>(`/enterprises/${rut}/cfes${query}`, body, { 'idempotency-key': key });
const UNUSUAL = { code: 'totals.exchange_rate_unusual', path: '/header/totals/exchange_rate' };

test.each([
  [44, []],
  [36, []],
  [44.001, [UNUSUAL]],
  [35.999, [UNUSUAL]],
  [200, [UNUSUAL]],
  [8, [UNUSUAL]],
])(
  'at a last rate of 40, %s is told of as %j, by issuing, its repeat and validate_only',
  async (rate, told) => {
    const key = randomUUID();
    const first = await post(inDollars(rate), { key });
    expect(first.status).toBe(201);
    expect(first.data.warnings).toMatchObject(told);
    const again = await post(inDollars(rate), { key });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.data).toEqual(first.data);
    const checked = await post(inDollars(rate), { query: '?validate_only=true' });
    expect(checked.data.warnings).toEqual(first.data.warnings);
  },
);

test.each([200.001, 7.999])(
  'at a last rate of 40, %s is refused, with that rate and its day',
  async (rate) => {
    const refused = await post(inDollars(rate));
    const last = `between a fifth of 40 and 5 times it, the last known rate of USD, of ${day(-3)}`;
    expectFaults(refused, [
      ['/header/totals/exchange_rate', 'totals.exchange_rate_implausible', new RegExp(last)],
    ]);
  },
);

test('where no rate is known before the day, none is told', async () => {
  expect((await post(aCfeBody({ currency: 'EUR', exchangeRate: 4 }))).data.warnings).toEqual([]);
  const early = inDollars(4, { emissionDate: day(-20) });
  expect((await post(early)).data.warnings).toEqual([]);
});

test('a rate of the emission date is not compared with later ones', async () => {
  const then = inDollars(21, { emissionDate: day(-5) });
  expect((await post(then)).data.warnings).toEqual([]);
});

test('the answer that waited for the verdict has the same warnings', async () => {
  const body = { ...inDollars(50), extra: JSON.stringify({ colour: 'red' }) };
  const key = randomUUID();
  const path = `/enterprises/${rut}/cfes`;
  const headers = { 'idempotency-key': key, prefer: 'wait=1' };
  const waited = await suite.owner.client.post<Answer>(path, body, headers);
  expect(waited.data.warnings.map(({ code }) => code)).toEqual([
    'extra.unknown_key',
    'totals.exchange_rate_unusual',
  ]);
  expect((await post(body, { key })).data.warnings).toEqual(waited.data.warnings);
});

test.each([
  ['1234567-2', true],
  ['1.234.567-2', true],
  ['12345672', true],
  ['12345673', false],
  ['BR-445566', false],
])('a NIFE %s of an e-Ticket: told of as a cédula: %s', async (number, isTold) => {
  const receiver = { receiver_doc_type: 'NIFE', receiver_document: number, country_code: 'BR' };
  const { status, data } = await post(aCfeBody({ receiver }));
  expect(status).toBe(201);
  const told = { code: 'receiver.nife_is_ci', path: '/header/receiver/receiver_doc_type' };
  expect(data.warnings).toMatchObject(isTold ? [told] : []);
});

test('warnings are in Spanish where the caller asks for it, in a repeated answer too; numbers keep their digits', async () => {
  const body = { ...inDollars(50), extra: JSON.stringify({ colour: 'red' }) };
  const path = `/enterprises/${rut}/cfes`;
  const headers = { 'idempotency-key': randomUUID(), 'accept-language': 'es-UY' };
  const first = await suite.owner.client.post<Answer>(path, body, headers);
  const again = await suite.owner.client.post<Answer>(path, body, headers);
  expect(first.data.warnings.map(({ message }) => message)).toEqual([
    'extra.colour: no es una clave del servicio; se guarda y no tiene efecto.',
    expect.stringMatching(/^header\.totals\.exchange_rate: difiere más del 10 % de 40, /),
  ]);
  expect(again.data).toEqual(first.data);
  expect(again.headers.get('vary')).toBe('Accept-Language');
});
