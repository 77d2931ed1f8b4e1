import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { EnterpriseGrant } from '../../../../src/db/entities/enterprises.ts';
import { AuditEntry, OutboxMessage } from '../../../../src/db/entities/operations.ts';
import { Cfe, type CfeRow } from '../../../../src/db/entities/receipts.ts';
import { listAudit } from '../../../../src/db/operations/audit.ts';
import type { Environment } from '../../../../src/domain/receipts/cfeTypes.ts';
import { anAccount, idleIssuing } from '../../../support/commandDeps.ts';
import {
  type Browser,
  formTokenIn,
  type Shown,
  startConsole,
  type TestConsole,
} from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../../../support/enterprises/enterprises.ts';
import { giveCfes } from '../../../support/mail/receipts.ts';
import { aCfeBody, type Body } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';

let db: TestDatabase;
let site: TestConsole;
let owners: string;
let guests: string;
let rut: string;
let member: Browser;
beforeAll(async () => {
  db = await cloneDatabase();
  const testKit = {
    certificate: () => Promise.reject(new Error('there is a certificate')),
    cae: async () => null,
  };
  site = await startConsole(db.orm, { testKit });
  [owners, guests] = [await anAccount(db.orm), await anAccount(db.orm)];
  rut = await aReadyEnterprise(db.orm, owners);
  await db.orm.em.fork().insert(EnterpriseGrant, { accountId: guests, rut, role: 'VIEWER' });
  member = await site.as(await site.aMember(owners, 'MEMBER'), { 'accept-language': 'en' });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const issuing = () => ({ orm: db.orm, clock: () => new Date(), ...idleIssuing });

/** Issues a receipt of two lines, of 122 and 100 pesos; its path. */
async function aReceipt(environment: Environment = 'production'): Promise<{ cfe: CfeRow; page: string }> {
  const body = aCfeBody() as { header: { totals: Body }; details: Body[] } & Body;
  Object.assign(body.header.totals, {
    tax_free_amount: 100,
    total_amount: 222,
    pay_amount: 222,
    line_count: 2,
  });
  body.details.push({
    line_number: 2,
    iva_type: 'EXEMPT',
    item_name: 'Libro <b>',
    count: 4,
    unit_price: 25,
    item_amount: 100,
  });
  const json = fromJson(JSON.stringify(body));
  const cfe = await issueCfe(issuing(), { accountId: owners, rut, environment, body: json });
  return { cfe, page: `/cfes/${rut}/${environment}/101-${cfe.sequence}` };
}
const notesOf = async ({ id }: CfeRow): Promise<string[]> => {
  const rows = await db.orm.em
    .fork()
    .execute<{ pay: string }[]>(
      'select pay_amount::text as pay from cfe_reference join cfe on cfe.id = cfe_uuid where original_id = ? order by pay_amount',
      [id],
    );
  return rows.map(({ pay }) => pay);
};
const look = (browser: Browser, page: string, fields: Record<string, string>): Promise<Shown> =>
  browser.send(`${page}/credit`, { reason: 'Devolución', once: randomUUID(), ...fields }, `${page}/credit`);
/** The fields of the form that issues the note, as a page shows it. */
function issueFields({ text }: Shown): Record<string, string> {
  const form = /<form method="post" action="[^"]*\/credit-notes"[\s\S]*?<\/form>/.exec(text)?.[0] ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  return Object.fromEntries(
    fields.map(([, name = '', value = '']) => [name, value.replaceAll('&quot;', '"')]),
  );
}
const flashOf = (browser: Browser): { kind: string; text: string; at?: { faults: Record<string, string> } } =>
  JSON.parse(Buffer.from(browser.cookies.get('cfe_flash') ?? '', 'base64url').toString());

test('what is left, a look at the note, and the note', async () => {
  const { cfe, page } = await aReceipt();
  expect((await member.get(page)).text).toContain(`<a class="main" href="${page}/credit">`);
  const before = (await member.get(`${page}/credit`)).text;
  expect(before).toContain('UYU 222.00');
  expect(before).toContain('Libro &lt;b&gt;: 4 left, 100.00');

  const shown = await look(member, page, { take: 'counts', line_1: '', line_2: '1,5' });
  expect([shown.status, shown.text.includes('Issue the credit note of UYU 37.50')]).toEqual([200, true]);
  expect(await notesOf(cfe)).toEqual([]);

  const sent = await member.post(`${page}/credit-notes`, issueFields(shown));
  const [note] = await db.orm.em.fork().find(Cfe, { rut, type: 'ETICKET_NC' });
  expect(sent.to).toBe(`/cfes/${rut}/production/102-${note?.sequence}`);
  expect(flashOf(member)).toEqual({ kind: 'done', text: 'Credit note of UYU 37.50 issued.' });
  expect(note).toMatchObject({ accountId: owners, payAmount: '37.50' });
  expect((await member.get(sent.to ?? '')).status).toBe(200);
  const after = (await member.get(`${page}/credit`)).text;
  expect(after).toContain('Libro &lt;b&gt;: 2.5 left, 62.50');
  expect(after).toContain(`href="${sent.to}"`);
  const acts = await listAudit(db.orm.em.fork(), { subject: note?.id ?? '' }, 10);
  expect(acts).toMatchObject([
    { action: 'cfe.credit', rut, accountId: owners, reason: null, address: '127.0.0.1' },
  ]);
  expect(acts[0]?.actor).toMatch(/^console:persona/);
});

test.each([
  ['all', {}, '222.00'],
  ['percent', { percent: '12,5' }, '27.75'],
  ['amount', { amount: '50.01' }, '50.01'],
  ['sums', { line_1: '10', line_2: '0.5' }, '12.70'],
])('%s, in Spanish', async (take, fields, pays) => {
  const { cfe, page } = await aReceipt();
  const browser = await site.as(await site.aMember(owners, 'OWNER'), { 'accept-language': 'es' });
  const shown = await look(browser, page, { take, ...fields });
  expect(shown.text).toContain(`Emitir la nota de crédito por UYU ${pays.replace('.', ',')}`);
  await browser.post(`${page}/credit-notes`, issueFields(shown));
  expect(flashOf(browser).text).toBe(`Se emitió la nota de crédito por UYU ${pays.replace('.', ',')}.`);
  expect(await notesOf(cfe)).toEqual([pays]);
});

test('each fault stands at its field', async () => {
  const { page } = await aReceipt();
  const refused = async (fields: Record<string, string>) => {
    const { to } = await look(member, page, fields);
    const { kind, at } = flashOf(member);
    const { text } = await member.get(to ?? '');
    const names = Object.keys(at?.faults ?? {});
    for (const name of names) expect(text).toContain(`id="fault-${name}"`);
    return [to, kind, names];
  };
  const at = (...names: string[]) => [`${page}/credit`, 'failed', names];
  expect(await refused({ take: 'percent', percent: '' })).toEqual(at('percent'));
  expect(await refused({ take: 'percent', percent: '101' })).toEqual(at('percent'));
  expect(await refused({ take: 'amount', amount: '222.01' })).toEqual(at('amount'));
  expect(await refused({ take: 'amount', amount: '1.500' })).toEqual(at('amount'));
  expect(await refused({ take: 'sums', line_1: '', line_2: '1,500' })).toEqual(at('line_2'));
  expect(await refused({ take: 'amount', amount: '1', reason: ' ' })).toEqual(at('reason'));
  expect(await refused({ take: 'counts', line_1: '', line_2: '4.5' })).toEqual(at('line_2'));
  expect(await refused({ take: 'sums', line_1: 'x', line_2: '0' })).toEqual(at('line_1'));
  expect(await refused({ take: 'sums', line_1: '', line_2: '0' })).toEqual(at('line_2'));
  await look(member, page, { take: 'counts', line_1: '' });
  expect(flashOf(member)).toMatchObject({
    kind: 'failed',
    text: 'Enter what to credit on at least one line.',
  });
});

test('two clicks at once, and a form sent again later, issue one note', async () => {
  const { cfe, page } = await aReceipt();
  const fields = issueFields(await look(member, page, { take: 'percent', percent: '10' }));
  const click = () => member.post(`${page}/credit-notes`, fields);
  const answers = await Promise.all([click(), click(), click()]);
  const again = await click();
  const pages = new Set([...answers, again].map(({ to }) => to));
  expect(pages.has(again.to)).toBe(true);
  expect(again.to).toMatch(/\/102-\d+$/);
  // One that waited too long leads back to the receipt.
  pages.delete(`${page}/credit`);
  expect([...pages]).toEqual([again.to]);
  expect(await notesOf(cfe)).toEqual(['22.20']);
  const audited = await db.orm.em.fork().find(AuditEntry, { rut, action: 'cfe.credit' });
  const note = await db.orm.em.fork().findOneOrFail(Cfe, { idempotencyKey: `console:${fields['once']}` });
  expect(audited.filter(({ subject }) => subject === note.id)).toHaveLength(1);

  const other = { ...fields, request: '{"reason":"otra","percent":5}', expected: '11.10' };
  expect((await member.post(`${page}/credit-notes`, other)).to).toBe(`${page}/credit`);
  expect(flashOf(member).kind).toBe('failed');
  expect(await notesOf(cfe)).toEqual(['22.20']);
});

test('a look that the browser sends again leads to the same note', async () => {
  const { cfe, page } = await aReceipt();
  const fields = { take: 'percent', percent: '10', once: randomUUID() };
  const first = await member.post(`${page}/credit-notes`, issueFields(await look(member, page, fields)));
  const again = await member.post(`${page}/credit-notes`, issueFields(await look(member, page, fields)));
  expect(again.to).toBe(first.to);
  expect(await notesOf(cfe)).toEqual(['22.20']);
});

test('two people who credit the same, and a note shared over other lines than were shown: only the first is issued', async () => {
  const { cfe, page } = await aReceipt();
  const other = await site.as(await site.aMember(owners, 'OWNER'));
  const [mine, theirs] = [
    issueFields(await look(member, page, { take: 'percent', percent: '40' })),
    issueFields(await look(other, page, { take: 'percent', percent: '40' })),
  ];
  await member.post(`${page}/credit-notes`, mine);
  expect((await other.post(`${page}/credit-notes`, theirs)).to).toBe(`${page}/credit`);
  expect(flashOf(other).text).toContain('cambió');
  expect(await notesOf(cfe)).toEqual(['88.80']);
});

test('different people at once never credit more than there is', async () => {
  const { cfe, page } = await aReceipt();
  const people = await Promise.all(
    ['MEMBER', 'OWNER', 'MEMBER'].map(async (role) => site.as(await site.aMember(owners, role as 'MEMBER'))),
  );
  const forms = await Promise.all(
    people.map(async (one) => issueFields(await look(one, page, { take: 'percent', percent: '60' }))),
  );
  const answers = await Promise.all(people.map((one, i) => one.post(`${page}/credit-notes`, forms[i] ?? {})));
  expect(answers.filter(({ to }) => to === `${page}/credit`)).toHaveLength(2);
  expect(await notesOf(cfe)).toEqual(['133.20']);
});

test('a note that has changed since it was looked at is not issued', async () => {
  const { cfe, page } = await aReceipt();
  const fields = issueFields(await look(member, page, { take: 'all' }));
  const meanwhile = await look(member, page, { take: 'amount', amount: '22' });
  await member.post(`${page}/credit-notes`, issueFields(meanwhile));
  expect((await member.post(`${page}/credit-notes`, fields)).to).toBe(`${page}/credit`);
  expect(flashOf(member)).toMatchObject({ kind: 'failed' });
  expect(flashOf(member).text).toContain('has changed');
  expect(await notesOf(cfe)).toEqual(['22.00']);
  const wrong = { ...fields, once: randomUUID(), request: '{' };
  await member.post(`${page}/credit-notes`, wrong);
  expect(flashOf(member).text).toContain('Fill it in again');
});

test('support gives a reason for the audit; readers are offered nothing; others see nothing', async () => {
  const { cfe, page } = await aReceipt();
  const support = await site.as(await site.anOperator('SUPPORT'), { 'accept-language': 'en' });
  const fields = issueFields(await look(support, page, { take: 'all' }));
  const send = (why: string) => support.post(`${page}/credit-notes`, { ...fields, why });
  expect((await send('')).to).toBe(`${page}/credit`);
  expect(flashOf(support).kind).toBe('failed');
  expect(await notesOf(cfe)).toEqual([]);
  await send('the customer asked by telephone');
  expect(await notesOf(cfe)).toEqual(['222.00']);
  const [act] = await db.orm.em
    .fork()
    .find(AuditEntry, { action: 'cfe.credit' }, { orderBy: { id: 'desc' } });
  expect(act?.reason).toBe('the customer asked by telephone');
  const used = (await support.get(`${page}/credit`)).text;
  expect(used).toContain('Nothing is left to credit.');
  expect(used).not.toContain('name="take"');
  const note = await db.orm.em.fork().findOneOrFail(Cfe, { id: act?.subject ?? '' });
  const notePage = `/cfes/${rut}/production/102-${note.sequence}`;
  const shown = (await support.get(notePage)).text;
  expect(shown).toContain('Credit note issued by hand');
  expect(shown).not.toContain(`${notePage}/credit"`);
  expect((await support.get(`${notePage}/credit`)).text).toContain('This receipt cannot be credited.');

  const { page: open } = await aReceipt();
  const reader = await site.as(await site.aMember(guests, 'OWNER'), { 'accept-language': 'en' });
  expect((await reader.get(open)).text).toContain('What is left to credit');
  const seen = await reader.get(`${open}/credit`);
  expect(seen.text).toContain('UYU 222.00');
  expect(seen.text).not.toContain('name="take"');
  const token = formTokenIn(seen.text);
  const forced = { take: 'all', reason: 'x', once: randomUUID(), form_token: token };
  expect((await reader.post(`${open}/credit`, forced)).status).toBe(403);
  const stranger = await site.as(await site.aMember(await anAccount(db.orm), 'OWNER'));
  expect((await stranger.get(`${open}/credit`)).status).toBe(404);
});

test('in the sandbox too, where the CAE of the notes is made', async () => {
  await giveCertificate(db.orm, rut, { environment: 'sandbox' });
  await giveCae(db.orm, rut, { environment: 'sandbox', serie: 'T' });
  const { cfe, page } = await aReceipt('sandbox');
  await member.post(`${page}/credit-notes`, issueFields(await look(member, page, { take: 'all' })));
  expect(flashOf(member).text).toBe('Credit note of UYU 222.00 issued.');
  expect(await notesOf(cfe)).toEqual(['222.00']);
});

test('a note that nothing waits for gets its sobre and run at once', async () => {
  const of = await aReadyEnterprise(db.orm, owners);
  const [cfe] = await giveCfes(db.orm, { accountId: owners, rut: of }, { status: 'ACCEPTED' });
  const page = `/cfes/${of}/production/101-${cfe?.sequence}`;
  await member.post(`${page}/credit-notes`, issueFields(await look(member, page, { take: 'all' })));
  const em = db.orm.em.fork();
  const { workflowId } = await em.findOneOrFail(Cfe, { rut: of, type: 'ETICKET_NC' });
  expect(workflowId).toMatch(new RegExp(`^cfe:${of}:102-1:`));
  expect(await em.count(OutboxMessage, { workflowId: String(workflowId) })).toBe(1);
});

test('a collection is marked, names all that it refers to, and can be credited', async () => {
  const [first, second] = [await aReceipt(), await aReceipt()];
  const body = aCfeBody() as { header: { totals: Body; doc_id: Body }; details: Body[] } & Body;
  Object.assign(body.header.doc_id, { own_collection: true });
  body.header.totals = {
    currency: 'UYU',
    exchange_rate: 1,
    total_amount: 0,
    pay_amount: 300,
    line_count: 1,
  };
  const cash = { item_name: 'Cobro', count: 1, unit_price: 300, item_amount: 300 };
  body.details = [{ line_number: 1, iva_type: 'NON_BILLABLE', ...cash }];
  const foreign = {
    cfe_type_code: '101',
    serie: 'ZZ',
    numero: 77,
    emission_date: body.header.doc_id['emission_date'],
  };
  body['references'] = [
    { cfe_id: first.page.split('/').at(-1) },
    { cfe_id: second.page.split('/').at(-1) },
    { ...foreign, amount: 50, currency: 'UYU' },
    { description: 'Pedido 55 <i>' },
  ];
  const json = fromJson(JSON.stringify(body));
  const asked = { accountId: owners, rut, environment: 'production', body: json } as const;
  const { sequence } = await issueCfe(issuing(), asked);
  const page = `/cfes/${rut}/production/101-${sequence}`;
  const { text } = await member.get(page);
  expect(text).toContain('<span class="mark calm">Own collection</span>');
  for (const one of [first, second]) expect(text).toContain(`<dd><a href="${one.page}">`);
  expect(text).toContain('<dd>101 ZZ-77, of another system</dd>');
  expect(text).toContain('<dd>Pedido 55 &lt;i&gt;</dd>');

  const shown = await look(member, page, { take: 'amount', amount: '120' });
  expect(shown.text).toContain('Issue the credit note of UYU 120.00');
  await member.post(`${page}/credit-notes`, issueFields(shown));
  expect(flashOf(member).text).toBe('Credit note of UYU 120.00 issued.');
});
