import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { aRequestKey } from '../../../support/api/requestKeys.ts';
import { anAccount, idleIssuing } from '../../../support/commandDeps.ts';
import { type Browser, startConsole, type TestConsole } from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';

let db: TestDatabase;
let site: TestConsole;
let operator: Browser;
let member: Browser;
let rut: string;
let other: string;

beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
  const [ours, theirs] = [await anAccount(db.orm), await anAccount(db.orm)];
  const caes = [{}, { type: 'EFACTURA', serie: 'BC', from: 70 }] as const;
  rut = await aReadyEnterprise(db.orm, ours, { caes: [...caes], values: { legalName: 'Panadería Ñandú' } });
  other = await aReadyEnterprise(db.orm, theirs, {
    caes: [...caes],
    values: { legalName: 'Ferretería Sur' },
  });
  await issue(ours, rut, {}, { key: 'pedido 7', requestId: 'request-0007' });
  await issue(ours, rut, { type: 'EFACTURA', receiver: receiver('=HYPERLINK("http://evil.example")') });
  await issue(theirs, other, { type: 'EFACTURA', receiver: receiver('<script>alert(1)</script>') });
  const stuck = { stuckReason: 'signing' } as const;
  await db.orm.em.fork().nativeUpdate(Cfe, { rut, type: 'ETICKET' }, stuck);
  operator = await site.as(await site.anOperator('VIEWER'));
  member = await site.as(await site.aMember(ours, 'VIEWER'));
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const receiver = (legal_name: string) => ({
  ...(aCfeBody({ type: 'EFACTURA' })['header'] as { receiver: object }).receiver,
  legal_name,
});

async function issue(
  accountId: string,
  of: string,
  wishes: CfeWishes,
  { key, requestId }: { key?: string; requestId?: string } = {},
): Promise<void> {
  const body = fromJson(JSON.stringify(aCfeBody(wishes)));
  const idempotency = key === undefined ? null : aRequestKey(key);
  const deps = { orm: db.orm, clock: () => new Date(), ...idleIssuing };
  await issueCfe(deps, {
    accountId,
    rut: of,
    environment: 'production',
    body,
    idempotency,
    requestId: requestId ?? null,
  });
}

/** The links of the rows, in order. */
const rowsOf = (text: string): string[] =>
  [...text.matchAll(/class="row" href="([^"]+)"/g)].map(([, to = '']) => to);
const listed = async (browser: Browser, query: string): Promise<string[]> =>
  rowsOf((await browser.get(`/cfes?${query}`)).text);
const at = (of: string, cfeId: string): string => `/cfes/${of}/production/${cfeId}`;

describe('the list', () => {
  test('an operator sees all, the newest first; a member what is theirs', async () => {
    expect(await listed(operator, '')).toEqual([at(other, '111-1'), at(rut, '111-1'), at(rut, '101-1')]);
    expect(await listed(member, '')).toEqual([at(rut, '111-1'), at(rut, '101-1')]);
    expect(await listed(member, `rut=${other}`)).toEqual([]);
  });

  test.each([
    ['type=EFACTURA', ['111-1']],
    ['status=PENDING&stuck=any', ['101-1']],
    ['stuck=signing', ['101-1']],
    ['serie=BC&numero=70', ['111-1']],
    ['receiver=219999830019', ['111-1']],
    ['idempotencyKey=pedido+7', ['101-1']],
    ['requestId=request-0007', ['101-1']],
    ['annulled=yes', []],
    ['q=BC-70', ['111-1']],
    ['environment=sandbox', []],
    ['createdTo=2026-01-01', []],
    ['from=&to=&serie=&numero=&environment=&type=ETICKET', ['101-1']],
  ])('filtered by %s', async (query, ids) => {
    expect(await listed(member, query)).toEqual(ids.map((id) => at(rut, id)));
  });

  test.each([
    ['numero=x', 'Número (NroCFE)'],
    ['rut=219999830018', 'RUT'],
    ['from=2026-02-30', 'Emitido desde'],
    ['serie=abc', 'Serie'],
    ['status=DONE', 'Estado'],
  ])('a value that cannot be, %s, is refused with the name of its field', async (query, field) => {
    const shown = await member.get(`/cfes?${query}`, { 'accept-language': 'es' });
    expect([shown.status, shown.text.includes(`«${field}»`)]).toEqual([400, true]);
  });

  test('what a customer wrote is shown as text, and harmless in a spreadsheet', async () => {
    const page = await operator.get('/cfes');
    expect(page.text).toContain('&lt;script&gt;alert(1)');
    expect(page.text).not.toContain('<script>alert');
    const csv = await member.get('/cfes?format=csv&type=EFACTURA');
    expect(csv.text.split('\r\n')[0]).toContain('cfe_id,serie,numero,cfe_type,cfe_status,stuck_reason');
    expect(csv.text).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
    expect(csv.text.trim().split('\r\n')).toHaveLength(2);
  });
});

describe('the search field', () => {
  test.each([
    ['BC-70', () => at(rut, '111-1')],
    ['101-1', () => at(rut, '101-1')],
    [' pedido 7 ', () => at(rut, '101-1')],
    ['request-0007', () => at(rut, '101-1')],
    ['219999830019', () => at(rut, '111-1')],
  ])('a member with %j is led straight to the receipt', async (text, to) => {
    const shown = await member.get(`/search?q=${encodeURIComponent(text)}`);
    expect([shown.status, shown.to]).toEqual([303, to()]);
  });

  test('an enterprise by its RUT; several receipts to their list', async () => {
    expect((await member.get(`/search?q=${rut}`)).to).toBe(`/enterprises/${rut}`);
    expect((await operator.get('/search?q=BC+70')).to).toBe('/cfes?q=BC+70');
    expect(await listed(operator, 'q=BC+70')).toEqual([at(other, '111-1'), at(rut, '111-1')]);
  });

  test.each(['', 'no such thing', '<b>x</b>', 'x'.repeat(300)])(
    '%j: says so, and what can be searched',
    async (q) => {
      const shown = await member.get(`/search?q=${encodeURIComponent(q)}`, { 'accept-language': 'en' });
      expect(shown.status).toBe(200);
      expect(shown.text).toContain('series and number, as printed');
      expect(shown.text).not.toContain('<b>x');
    },
  );

  test('nobody learns of what is not theirs', async () => {
    expect((await member.get(`/search?q=${other}`)).status).toBe(200);
    const nobody = await site.aBrowser().get('/search?q=BC-70');
    expect(nobody.to).toMatch(/^\/sign-in/);
  });
});
