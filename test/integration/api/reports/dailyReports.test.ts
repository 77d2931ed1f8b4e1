import { describe, expect, test } from '@jest/globals';
import { storeOpenReports } from '../../../../src/db/reports/dailyReports.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aReceipt } from '../../../support/reports/receipts.ts';
import { storeCfes } from '../../../support/reports/stored.ts';
import { storeSubmission } from '../../../support/reports/submission.ts';

const suite = useApi();
const path = (rut: string, more = '') => `/enterprises/${rut}/daily-reports${more}`;
const enterprise = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const get = (rut: string, more = '') => suite.owner.client.get(path(rut, more));
const open = (rut: string, date: string) =>
  suite.db.orm.em
    .fork()
    .transactional((em) =>
      storeOpenReports(em, [{ rut, environment: 'production', date }], new Date('2026-03-12T05:00:00Z')),
    );
const received = (rut: string, date: string) =>
  storeSubmission(suite.db.orm, { rut, environment: 'production', date });

describe('GET /enterprises/{rut}/daily-reports', () => {
  test('the latest day first, a page at a time, by day and status', async () => {
    const rut = await enterprise();
    for (const date of ['2026-03-06', '2026-03-09', '2026-03-10']) await received(rut, date);
    await open(rut, '2026-03-11');
    await storeSubmission(suite.db.orm, { rut, environment: 'sandbox', date: '2026-03-11' });
    const datesIn = async (query: string) => {
      const { data } = await get(rut, query);
      const { items, total } = data as { items: { date: string }[]; total: number };
      return [total, ...items.map(({ date }) => date)];
    };
    expect((await get(rut, '?limit=1')).data).toEqual({
      items: [{ date: '2026-03-11', status: 'OPEN', sequence: null, due_at: '2026-03-12T21:00:00.000Z' }],
      total: 4,
    });
    expect(await datesIn('?skip=1&limit=2')).toEqual([4, '2026-03-10', '2026-03-09']);
    expect(await datesIn('?from=2026-03-09&to=2026-03-10')).toEqual([2, '2026-03-10', '2026-03-09']);
    expect(await datesIn('?status=OPEN')).toEqual([1, '2026-03-11']);
    expect((await get(rut, '?status=SENDING')).status).toBe(400);
  });
});

describe('GET /enterprises/{rut}/daily-reports/{date}', () => {
  test('what it tells of each type, what was sent, and what the authority said', async () => {
    const rut = await enterprise();
    await received(rut, '2026-03-10');
    expect((await get(rut, '/2026-03-10')).data).toEqual({
      date: '2026-03-10',
      status: 'RECEIVED',
      sequence: 1,
      due_at: '2026-03-11T21:00:00.000Z',
      types: [
        {
          cfe_type: 'ETICKET',
          used: 2,
          issued: 1,
          annulled: 1,
          above_ui_limit: 0,
          amounts: [
            {
              emission_date: '2026-03-10',
              branch: 1,
              third_party_payment: false,
              tax_free_amount: 10,
              export_amount: 0,
              perceived_amount: 0,
              suspended_amount: 0,
              tax_minimum_net_amount: 0,
              tax_basic_net_amount: 1000,
              tax_minimum_amount: 0,
              tax_basic_amount: 220,
              tax_other_net_amount: 0,
              tax_other_amount: 0,
              total_amount: 1230,
            },
          ],
        },
      ],
      submissions: [
        {
          sequence: 1,
          sent_at: '2026-03-10T23:00:00.000Z',
          status: 'RECEIVED',
          reasons: [],
          authority_id: '90001',
        },
      ],
      waits_for: [],
    });
  });

  test('the CFEs that it waits for: those without a verdict, and those refused for E06 alone', async () => {
    const rut = await enterprise();
    await open(rut, '2026-03-10');
    const ticket = (numero: number) => ({
      ...aReceipt('ETICKET', numero, { exempt: '10.00', total: '10.00', pay: '10.00' }),
      signedAt: '2026-03-10T12:00:00-03:00',
    });
    await storeCfes(suite.db.orm, { accountId: suite.owner.accountId, rut, settledAt: new Date() }, [
      { document: ticket(1), status: 'ACCEPTED' },
      { document: ticket(2), status: 'RECEIVED' },
      { document: ticket(3), status: 'REJECTED', codes: ['E05'] },
      { document: ticket(4), status: 'REJECTED', codes: ['E06'] },
    ]);
    const { data } = await get(rut, '/2026-03-10');
    expect(data).toMatchObject({ status: 'OPEN', types: [], submissions: [] });
    expect((data as { waits_for: unknown }).waits_for).toEqual([
      { cfe_id: '101-2', cfe_type: 'ETICKET', serie: 'A', numero: 2, cfe_status: 'RECEIVED' },
      { cfe_id: '101-4', cfe_type: 'ETICKET', serie: 'A', numero: 4, cfe_status: 'REJECTED' },
    ]);
  });

  test('404 without a report of that day, 400 for a day that is none', async () => {
    const rut = await enterprise();
    expect((await get(rut, '/2026-03-10')).error).toMatchObject({ code: 'NOT_FOUND' });
    expect((await get(rut, '/2026-02-30')).status).toBe(400);
  });
});

describe('GET /enterprises/{rut}/daily-reports/{date}/xml', () => {
  const file = (rut: string) => suite.owner.client.get(path(rut, '/2026-03-10/xml'));

  test('what was sent last, byte for byte, by the name that the authority gives such files', async () => {
    const rut = await enterprise();
    await received(rut, '2026-03-10');
    const { status, text, headers } = await file(rut);
    expect([status, text]).toEqual([200, '<Reporte/>']);
    expect(headers.get('content-type')).toContain('application/xml');
    expect(headers.get('content-disposition')).toContain(`Rep_${rut}_20260310_01.xml`);
    expect(headers.get('etag')).toMatch(/^"/);
  });

  test('409 before it was sent', async () => {
    const rut = await enterprise();
    await open(rut, '2026-03-10');
    expect((await get(rut, '/2026-03-10/xml')).error).toMatchObject({ code: 'NOT_SENT_YET' });
  });
});
