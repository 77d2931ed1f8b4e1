import { beforeAll, describe, expect, test } from '@jest/globals';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { insertMail } from '../../../../src/db/mail/mails.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectRefusal } from '../../../support/api/expectRefusal.ts';
import {
  anEnterprise,
  aReadyEnterprise,
  giveCae,
  giveCertificate,
} from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';

const suite = useApi();
let rut: string;
let path: string;

interface Page {
  items: { cfe_id: string; cfe_status: string; qr_url: string | null }[];
  total: number;
}

beforeAll(async () => {
  const { db, owner, sandbox } = suite;
  rut = await aReadyEnterprise(db.orm, owner.accountId);
  path = `/enterprises/${rut}/cfes`;
  await giveCertificate(db.orm, rut, { environment: 'sandbox' });
  await giveCae(db.orm, rut, { environment: 'sandbox', serie: 'S' });
  // Two in production, the second of an id that the sandbox has not; one in the sandbox.
  await owner.client.post(path, aCfeBody());
  await owner.client.post(path, aCfeBody());
  expect((await sandbox.client.post(path, aCfeBody({ net: 5 }))).status).toBe(201);
  await db.orm.em.fork().nativeUpdate(
    Cfe,
    { rut, environment: 'sandbox' },
    {
      status: 'REJECTED',
      rejection: [{ code: 'E05', message: 'No cumple validaciones', detail: null }],
      settledAt: new Date(),
      signedXml: '<CFE>sandbox</CFE>',
      digest: 'GZ+xQy0h6y3gA0Zb1yVb2k3D1mTn0qzjQ5T1oOe7g3w=',
    },
  );
});

const get = <T>(more: string) => suite.owner.client.get<T>(path + more);

describe('CFEs of the sandbox, read with a production token', () => {
  test('are listed apart: ?environment=sandbox, and production unless told', async () => {
    const of = async (query: string) => {
      const { data } = await get<Page>(query);
      return [data.total, data.items.map(({ cfe_id, cfe_status }) => [cfe_id, cfe_status])];
    };
    const production = [
      2,
      [
        ['101-2', 'PENDING'],
        ['101-1', 'PENDING'],
      ],
    ];
    expect(await of('?environment=sandbox')).toEqual([1, [['101-1', 'REJECTED']]]);
    expect(await of('?environment=sandbox&cfe_status=PENDING')).toEqual([0, []]);
    expect(await of('?environment=production')).toEqual(production);
    expect(await of('')).toEqual(production);
  });

  test('one tells its verdict and why', async () => {
    const { status, data } = await get<Page>('/101-1?environment=sandbox');
    expect(status).toBe(200);
    expect(data).toMatchObject({
      total: 1,
      items: [{ cfe_status: 'REJECTED', rejection: [{ code: 'E05' }], pay_amount: 6.1, serie: 'S' }],
    });
    expect(data.items[0]?.qr_url).toContain('efactura.dgi.gub.uy');
  });

  test('files and e-mails are those of the sandbox', async () => {
    const xml = await get('/101-1/xml?environment=sandbox');
    expect([xml.status, xml.text]).toEqual([200, '<CFE>sandbox</CFE>']);
    expect((await get('/101-1/xml')).status).toBe(409);
    expect((await get('/101-1/pdf?environment=sandbox&paper=80mm')).status).toBe(200);

    const em = suite.db.orm.em.fork();
    const cfe = await em.findOneOrFail(Cfe, { rut, environment: 'sandbox' });
    insertMail(em, cfe, { kind: 'RECEIPT', destination: 'prueba@example.com', byHand: false }, new Date());
    await em.flush();
    const mails = await get<{ destination: string }[]>('/101-1/emails?environment=sandbox');
    expect(mails.data.map(({ destination }) => destination)).toEqual(['prueba@example.com']);
    expect((await get('/101-1/emails')).data).toEqual([]);
  });

  test.each(['', '/xml', '/pdf', '/emails'])('404 where only production has it: %j', async (what) => {
    const error = expectRefusal(await get(`/101-2${what}?environment=sandbox`), 404, 'NOT_FOUND');
    expect(error.message).toContain('101-2 in the sandbox');
  });

  test.each(['', '/101-1', '/101-1/xml', '/101-1/pdf', '/101-1/emails'])(
    '403 for who is no developer, 400 for an environment that is none, 403 for a sandbox token: %j',
    async (what) => {
      const { api, db, sandbox } = suite;
      const plain = await api.aCaller({ isDeveloper: false });
      const own = await anEnterprise(db.orm, plain.accountId);
      const at = `/enterprises/${own}/cfes${what}?environment=sandbox`;
      expectRefusal(await plain.client.get(at), 403, 'FORBIDDEN');
      expectRefusal(await get(`${what}?environment=test`), 400, 'INVALID_INPUT');
      const mode = { 'x-sandbox-mode': 'true' };
      expectRefusal(
        await suite.owner.client.get(`${path}${what}?environment=sandbox`, mode),
        400,
        'INVALID_INPUT',
      );
      expectRefusal(
        await sandbox.client.get(`${path}${what}?environment=sandbox`, { 'x-sandbox-mode': 'false' }),
        403,
        'FORBIDDEN',
      );
    },
  );
});
