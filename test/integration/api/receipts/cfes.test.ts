import { beforeAll, describe, expect, test } from '@jest/globals';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { testsOfEveryEnterpriseRoute } from '../../../support/api/everyRoute.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { aRut, day } from '../../../support/receipts/papers.ts';

const suite = useApi();
const ready = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const path = (rut: string) => `/enterprises/${rut}/cfes`;

interface Page {
  items: { cfe_id: string; cfe_status: string }[];
  total: number;
}

const issue = (rut: string, wishes: CfeWishes = {}) =>
  suite.owner.client.post<{ cfe_id: string }>(path(rut), aCfeBody(wishes));
const list = (rut: string, query = '') => suite.owner.client.get<Page>(path(rut) + query);
const idsOf = async (rut: string, query = '') => {
  const { data } = await list(rut, query);
  return [data.items.map(({ cfe_id }) => cfe_id).join(' '), data.total];
};

describe('GET /enterprises/{rut}/cfes', () => {
  let rut: string;
  beforeAll(async () => {
    rut = await ready();
    await issue(rut, { emissionDate: day(-2) });
    await issue(rut, { emissionDate: day(-1) });
    await issue(rut, { type: 'EFACTURA', emissionDate: day(0) });
    await issue(rut, { emissionDate: day(0) });
    await issue(rut, { type: 'EFACTURA_EXPORT', emissionDate: day(1) });
    const settled = { status: 'ACCEPTED', settledAt: new Date() } as const;
    await suite.db.orm.em.fork().nativeUpdate(Cfe, { rut, type: 'ETICKET', sequence: { $lte: 2 } }, settled);
  });

  testsOfEveryEnterpriseRoute(suite, { method: 'GET', path, rut: ready });

  test.each([
    ['', '121-1 101-3 111-1 101-2 101-1', 5],
    ['?skip=1&limit=2', '101-3 111-1', 5],
    ['?skip=4', '101-1', 5],
    ['?skip=5', '', 5],
    ['?cfe_type=ETICKET', '101-3 101-2 101-1', 3],
    ['?cfe_type=ETICKET&limit=1', '101-3', 3],
    ['?cfe_type=EFACTURA_NC', '', 0],
    ['?cfe_status=ACCEPTED', '101-2 101-1', 2],
    ['?cfe_status=PENDING&cfe_type=ETICKET', '101-3', 1],
    [`?from=${day(0)}`, '121-1 101-3 111-1', 3],
    [`?to=${day(-1)}`, '101-2 101-1', 2],
    [`?from=${day(-1)}&to=${day(0)}&cfe_type=ETICKET`, '101-3 101-2', 2],
    [`?from=${day(1)}&to=${day(-1)}`, '', 0],
  ])('200: %j answers %j of %i, newest first', async (query, ids, total) => {
    expect(await idsOf(rut, query)).toEqual([ids, total]);
  });

  test('200: 25 a page unless told, 100 at most', async () => {
    const many = await ready();
    await Promise.all(Array.from({ length: 30 }, () => issue(many)));
    expect((await list(many)).data.items).toHaveLength(25);
    expect((await list(many, '?limit=100')).data.items).toHaveLength(30);
  });

  test('200: none is an empty list; those of another enterprise are not there', async () => {
    expect((await list(await ready())).data).toEqual({ items: [], total: 0 });
  });

  test('200: the items are CFE objects like those that issuing answers', async () => {
    const one = await ready();
    const issued = await issue(one);
    const { warnings: _, ...cfe } = issued.data as unknown as { warnings: unknown };
    expect((await list(one)).data).toEqual({ items: [cfe], total: 1 });
  });

  test.each([
    [
      '?limit=0',
      '/query/limit',
      'number.out_of_range',
      'limit: must be an integer from 1 to 100, found "0".',
    ],
    ['?limit=101', '/query/limit', 'number.out_of_range', /found "101"/],
    ['?limit=ten', '/query/limit', 'number.out_of_range', /found "ten"/],
    ['?limit=1.5', '/query/limit', 'number.out_of_range', /found "1.5"/],
    ['?limit=', '/query/limit', 'number.out_of_range', /found ""/],
    ['?skip=-1', '/query/skip', 'number.out_of_range', /must be an integer from 0 .* found "-1"/],
    ['?skip=1&skip=2', '/query/skip', 'body.duplicate_key', 'query.skip: must not be given twice.'],
    ['?cfe_type=101', '/query/cfe_type', 'body.not_one_of', /found "101"/],
    ['?cfe_status=DONE', '/query/cfe_status', 'body.not_one_of', /found "DONE"/],
    ['?from=2026-13-01', '/query/from', 'date.malformed', /found "2026-13-01"/],
    ['?page=2', '/query/page', 'body.unknown_field', /page: unknown field/],
    ['?status=REJECTED', '/query/status', 'body.unknown_field', /did you mean "cfe_status"/],
  ] as [string, string, string, string | RegExp][])('400: %s', async (query, pointer, code, message) => {
    const answer = await list(rut, query);
    const words = typeof message === 'string' ? message.replace(/^(?!query\.)/, 'query.') : message;
    expectFaults(answer, [[pointer, code, words]]);
  });

  test('400: all faults of a query at once', async () => {
    expectFaults(await list(rut, '?limit=0&skip=x&cfe_type=E'), [
      ['/query/limit', 'number.out_of_range', /.+/],
      ['/query/skip', 'number.out_of_range', /.+/],
      ['/query/cfe_type', 'body.not_one_of', /.+/],
    ]);
  });
});

describe('GET /enterprises/{rut}/cfes: looking for some', () => {
  let rut: string;
  const moment = (minutes: number) => new Date(Date.UTC(2026, 7, 1, 3, minutes));
  beforeAll(async () => {
    const caes = [{}, { type: 'EFACTURA', serie: 'BC', from: 70 }] as const;
    rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, { caes: [...caes] });
    await suite.owner.client.post(path(rut), aCfeBody(), { 'Idempotency-Key': 'pedido "7" ñ'.slice(0, 10) });
    await issue(rut);
    await issue(rut, { type: 'EFACTURA' });
    const em = suite.db.orm.em.fork();
    const places = [
      ['ETICKET', 1],
      ['ETICKET', 2],
      ['EFACTURA', 1],
    ] as const;
    for (const [n, [type, sequence]] of places.entries())
      await em.nativeUpdate(Cfe, { rut, type, sequence }, { createdAt: moment(n) });
  });

  test.each([
    ['?serie=BC', '111-1', 1],
    ['?serie=A', '101-2 101-1', 2],
    ['?numero=70', '111-1', 1],
    ['?serie=A&numero=2', '101-2', 1],
    ['?serie=BC&numero=2', '', 0],
    ['?receiver_document=219999830019', '111-1', 1],
    ['?receiver_document=219999830', '', 0],
    [`?idempotency_key=${encodeURIComponent('pedido "7"')}`, '101-1', 1],
    ['?idempotency_key=pedido', '', 0],
    ['?created_from=2026-08-01T03:01:00Z', '111-1 101-2', 2],
    [`?created_from=${encodeURIComponent('2026-08-01T00:01:00.000-03:00')}`, '111-1 101-2', 2],
    ['?created_to=2026-08-01T03:01:00Z', '101-2 101-1', 2],
    ['?created_from=2026-08-01&created_to=2026-08-01', '111-1 101-2 101-1', 3],
    ['?created_from=2026-08-02', '', 0],
    ['?created_to=2026-07-31', '', 0],
    ['?created_from=2026-08-01&cfe_type=ETICKET&limit=1', '101-2', 2],
  ])('200: %s answers %j of %i', async (query, ids, total) => {
    expect(await idsOf(rut, query)).toEqual([ids, total]);
  });

  test('200: one account finds no CFE of another by its key, nor by what else it has', async () => {
    const answer = await suite.stranger.client.get<Page>(`${path(rut)}?idempotency_key=pedido`);
    expect(answer.status).toBe(403);
  });

  test.each([
    ['?serie=a', '/query/serie', 'serie.malformed', /found "a"/],
    ['?serie=', '/query/serie', 'serie.malformed', /found ""/],
    ['?numero=0', '/query/numero', 'number.out_of_range', /from 1 to 9999999, found "0"/],
    ['?numero=A1', '/query/numero', 'number.out_of_range', /found "A1"/],
    ['?receiver_document=', '/query/receiver_document', 'text.empty', /must not be empty/],
    [`?idempotency_key=${'x'.repeat(256)}`, '/query/idempotency_key', 'text.too_long', /at most 255/],
    ['?idempotency_key=a%00b', '/query/idempotency_key', 'text.control_character', /U\+0000/],
    ['?created_from=2026-13-01', '/query/created_from', 'moment.malformed', /found "2026-13-01"/],
    ['?created_from=2026-02-30T00:00:00Z', '/query/created_from', 'moment.malformed', /.+/],
    ['?created_to=2026-08-01T03:01:00', '/query/created_to', 'moment.malformed', /with its zone/],
    ['?created_to=now', '/query/created_to', 'moment.malformed', /found "now"/],
    ['?after=', '/query/after', 'cursor.malformed', /header Link/],
    ['?after=WyIxMDEtOTkiXQ', '/query/after', 'cursor.malformed', /header Link/],
    ['?after=*', '/query/after', 'cursor.malformed', /header Link/],
    ['?request_id=x', '/query/request_id', 'body.unknown_field', /unknown field/],
  ] as [string, string, string, RegExp][])('400: %s', async (query, pointer, code, message) => {
    expectFaults(await list(rut, query), [[pointer, code, message]]);
  });
});

describe('GET /enterprises/{rut}/cfes page by page', () => {
  /** All pages from the query on, as their Links lead; `meanwhile` runs before each further one. */
  async function readAll(query: string, meanwhile: () => Promise<unknown>): Promise<string[]> {
    const read: string[] = [];
    let at: string | null = query;
    while (at !== null) {
      const page: { data: Page; headers: Headers } = await suite.owner.client.get<Page>(at);
      read.push(...page.data.items.map(({ cfe_id }) => cfe_id));
      const next: string | undefined = /^<\/v1(.+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
      at = next ?? null;
      if (at !== null) await meanwhile();
    }
    return read;
  }

  test('while others are issued: each CFE once, none left out, and the filter stays', async () => {
    const rut = await ready();
    await Promise.all(Array.from({ length: 12 }, () => issue(rut)));
    await issue(rut, { type: 'EFACTURA' });
    const before = (await list(rut, '?limit=100&cfe_type=ETICKET')).data.items.map(({ cfe_id }) => cfe_id);
    let running: Promise<unknown>[] = [];
    const read = await readAll(`${path(rut)}?cfe_type=ETICKET&limit=5&created_from=${day(-1)}`, async () => {
      // Some are stored while the next page is read, some before.
      running = Array.from({ length: 6 }, () => issue(rut));
      await running[0];
    });
    await Promise.all(running);
    expect(read).toEqual(before);
  });

  test('skip counts from where the page before ended; the last page leads nowhere', async () => {
    const rut = await ready();
    for (let n = 0; n < 4; n += 1) await issue(rut);
    const first = await suite.owner.client.get<Page>(`${path(rut)}?limit=1`);
    const next = /after=([\w-]+)/.exec(first.headers.get('link') ?? '')?.[1];
    const second = await suite.owner.client.get<Page>(`${path(rut)}?limit=5&skip=1&after=${next}`);
    expect(second.data.items.map(({ cfe_id }) => cfe_id)).toEqual(['101-2', '101-1']);
    expect(second.data.total).toBe(4);
    expect(second.headers.get('link')).toBeNull();
  });
});

describe('GET /enterprises/{rut}/cfes/{cfe_id}', () => {
  testsOfEveryEnterpriseRoute(suite, {
    method: 'GET',
    path: (rut) => `${path(rut)}/101-1`,
    rut: async () => {
      const rut = await ready();
      await issue(rut);
      return rut;
    },
  });

  test('200: the CFE, as a list of one', async () => {
    const rut = await ready();
    const issued = await issue(rut, { type: 'EFACTURA' });
    const { warnings: _, ...cfe } = issued.data as unknown as { warnings: unknown };
    const answer = await list(rut, '/111-1');
    expect(answer.status).toBe(200);
    expect(answer.data).toMatchObject({ items: [cfe], total: 1 });
  });

  test('200: signed and rejected, with the security code, the QR address and the words of the authority', async () => {
    const rut = await ready();
    await issue(rut);
    const rejection = [{ code: 'E05', message: 'No pasa validación', detail: null }];
    await suite.db.orm.em
      .fork()
      .nativeUpdate(
        Cfe,
        { rut },
        { status: 'REJECTED', settledAt: new Date(), rejection, signedXml: '<CFE/>', digest: 'aB+/cd1234=' },
      );
    const [year, month, date] = day(0).split('-');

    expect((await list(rut, '/101-1')).data.items[0]).toMatchObject({
      cfe_status: 'REJECTED',
      rejection,
      security_code: 'aB+/cd',
      qr_url: `https://www.efactura.dgi.gub.uy/consultaQR/cfe?${rut},101,A,1,122.00,${date}/${month}/${year},aB%2B%2Fcd1234%3D`,
    });
  });

  test.each(['101-999', '101-2147483648', '101-99999999999999'])('404: %s names no CFE', async (cfeId) => {
    const answer = await list(await ready(), `/${cfeId}`);
    expect(answer.status).toBe(404);
  });

  test.each(['101', '101-0', '101-01', '181-1', '101-1-1', 'ETICKET-1'])(
    '400: %s is no cfe_id',
    async (cfeId) => {
      expectFaults(await list(await ready(), `/${cfeId}`), [
        ['/path/cfe_id', 'cfe_id.malformed', /cfe_id: /],
      ]);
    },
  );

  test('404: none of that cfe_id, be it that another enterprise has one', async () => {
    const other = await ready();
    await issue(other);
    const error = expectRefusal(await list(await ready(), '/101-1'), 404, 'NOT_FOUND');
    expect(error.message).toBe('The enterprise has no CFE 101-1.');
    expectRefusal(await list(aRut(), '/101-1'), 404, 'NOT_FOUND');
  });

  test('405: it cannot be changed or deleted', async () => {
    const rut = await ready();
    for (const method of ['PUT', 'DELETE', 'POST']) {
      const answer = await suite.owner.client.send(method, `${path(rut)}/101-1`, { body: {} });
      expectRefusal(answer, 405, 'METHOD_NOT_ALLOWED');
    }
  });
});
