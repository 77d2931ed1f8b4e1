import { expect, test } from '@jest/globals';
import { montevideoDate } from '../../../../src/domain/values/montevideo.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectFaults } from '../../../support/api/expectRefusal.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';

const suite = useApi();
const ready = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const today = montevideoDate(new Date());

const LINE = { iva_type: 'BASIC_RATE', item_name: 'Yerba 1 kg', count: 3, unit_price: 199.9 };
/** A ticket of thirty lines with VAT in their prices, as a shop has them: discounts, two rates, a rounding. */
function ticket() {
  const details: object[] = Array.from({ length: 29 }, (_, at) => ({
    ...LINE,
    line_number: at + 1,
    ...(at % 3 === 0 ? { iva_type: 'MINIMUM_RATE' } : {}),
    ...(at % 4 === 0 ? { discounts: [{ percent: 12.5 }] } : {}),
  }));
  details.push({
    line_number: 30,
    iva_type: 'NON_BILLABLE_NEGATIVE',
    item_name: 'Redondeo',
    count: 1,
    unit_price: 0.13,
  });
  return {
    cfe_type: 'ETICKET',
    header: {
      doc_id: { emission_date: today, payment_method: 'CASH' },
      totals: { currency: 'UYU', exchange_rate: 1 },
      adjustments: [{ kind: 'DISCOUNT', iva_type: 'BASIC_RATE', description: 'Club', percent: 5 }],
    },
    details,
  };
}

interface Preview {
  request: { header: { totals: Record<string, number> }; details: { item_amount: number }[] };
  warnings: { code: string; path: string }[];
}

test('a ticket without totals is completed, and issued as it comes back', async () => {
  const rut = await ready();
  const path = `/enterprises/${rut}/cfes`;
  const { status, data } = await suite.owner.client.post<Preview>(`${path}/preview?prices=gross`, ticket());
  expect(status).toBe(200);
  const { totals } = data.request.header;
  const sum = ['tax_minimum_net_amount', 'tax_minimum_amount', 'tax_basic_net_amount', 'tax_basic_amount'];
  expect(Math.round(sum.reduce((all, name) => all + 100 * (totals[name] ?? 0), 0))).toBe(
    Math.round(100 * (totals['total_amount'] ?? 0)),
  );
  expect(totals['pay_amount']).toBe(Math.round(100 * (totals['total_amount'] ?? 0) - 13) / 100);
  expect(data.warnings).toEqual([]);
  const issued = await suite.owner.client.post(path, data.request);
  expect(issued.status).toBe(201);
  expect(issued.data).toMatchObject({
    total_amount: totals['total_amount'],
    pay_amount: totals['pay_amount'],
  });
});

test('a preview stores nothing, needs to know the prices, and finds the faults of issuing', async () => {
  const rut = await ready();
  const path = `/enterprises/${rut}/cfes`;
  expectFaults(await suite.owner.client.post(`${path}/preview`, ticket()), [
    ['/query/prices', 'preview.prices', /^query.prices: is required/],
  ]);
  const wrong = ticket();
  Object.assign(wrong.header.totals, { total_amount: 1 });
  const refused = await suite.owner.client.post(`${path}/preview?prices=gross`, wrong);
  expectFaults(refused, [['/header/totals/total_amount', 'totals.total_amount', /found 1\.00/]]);
  expect((await suite.owner.client.get<{ total: number }>(path)).data.total).toBe(0);
});

test('what cannot be computed from wrong figures is not called missing', async () => {
  const path = `/enterprises/${await ready()}/cfes/preview?prices=gross`;
  const unread = ticket();
  Object.assign(unread.details[3] ?? {}, { count: -1 });
  expectFaults(await suite.owner.client.post(path, unread), [
    ['/details/3/count', 'number.negative', /count/],
  ]);

  const overdrawn = ticket();
  Object.assign(overdrawn.details[3] ?? {}, { discounts: [{ amount: 1_000 }] });
  overdrawn.header.adjustments = [
    { kind: 'DISCOUNT', iva_type: 'MINIMUM_RATE', description: 'Club', amount: 99_999 },
  ] as never;
  expectFaults(await suite.owner.client.post(path, overdrawn), [
    ['/details/3/discounts', 'line.below_zero', /./],
    ['/header/adjustments', 'adjustment.below_zero', /./],
  ]);

  const many = { ...ticket(), details: Array.from({ length: 1_001 }, () => LINE) };
  expectFaults(await suite.owner.client.post(path, many), [['/details', 'list.too_long', /1001/]]);
});

test('the path is its own: no CFE is read there', async () => {
  const path = `/enterprises/${await ready()}/cfes/preview`;
  expect(await suite.owner.client.get(path)).toMatchObject({
    status: 405,
    error: { code: 'METHOD_NOT_ALLOWED' },
  });
});

test('unknown keys of extra and an export that declares a service are warned about', async () => {
  const rut = await ready();
  const abroad = {
    cfe_type: 'EFACTURA_EXPORT',
    header: {
      doc_id: { emission_date: today, payment_method: 'CREDIT' },
      receiver: {
        legal_name: 'Cliente',
        fiscal_address: 'Rua 1',
        city: 'Porto Alegre',
        department: 'RS',
        country: 'Brasil',
      },
      totals: { currency: 'USD', exchange_rate: 40 },
    },
    details: [{ ...LINE, line_number: 1, iva_type: 'EXPORT' }],
    extra: '{"colour":"red"}',
  };
  const { status, data } = await suite.owner.client.post<Preview>(`/enterprises/${rut}/cfes/preview`, abroad);
  expect(status).toBe(200);
  expect(data.warnings.map(({ code, path }) => [code, path])).toEqual([
    ['extra.unknown_key', '/extra/colour'],
    ['export.defaults', '/extra'],
  ]);
});
