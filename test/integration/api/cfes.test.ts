import { beforeAll, describe, expect, test } from '@jest/globals';
import { Cfe } from '../../../src/db/entities/Cfe.ts';
import { useApi } from '../../support/apiSuite.ts';
import { aCfeBody, type CfeWishes } from '../../support/cfeBodies.ts';
import { aReadyEnterprise } from '../../support/enterprises.ts';
import { testsOfEveryEnterpriseRoute } from '../../support/everyRoute.ts';
import { expectFaults, expectRefusal } from '../../support/expectRefusal.ts';
import { aRut, day } from '../../support/papers.ts';

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
    expect((await list(one)).data).toEqual({ items: [issued.data], total: 1 });
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
    const answer = await list(rut, '/111-1');
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({ items: [issued.data], total: 1 });
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
