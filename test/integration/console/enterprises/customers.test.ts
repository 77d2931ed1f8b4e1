import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Customer } from '../../../../src/db/entities/enterprises.ts';
import { AuditEntry } from '../../../../src/db/entities/operations.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import {
  type Browser,
  formTokenIn,
  startConsole,
  type TestConsole,
} from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';

let db: TestDatabase;
let site: TestConsole;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const english = { 'accept-language': 'en' };
async function send(browser: Browser, path: string, fields: [string, string][]) {
  const { text } = await browser.get('/me', english);
  const body = new URLSearchParams([['form_token', formTokenIn(text)], ...fields]);
  const response = await fetch(site.url + path, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { ...english, cookie: [...browser.cookies].map(([n, v]) => `${n}=${v}`).join('; ') },
  });
  const flash = response.headers.getSetCookie().find((one) => one.startsWith('cfe_flash='));
  const told = Buffer.from(flash?.split(/[=;]/)[1] ?? '', 'base64url').toString();
  return { to: response.headers.get('location'), told };
}

test('a MEMBER adds, changes and deletes a customer, and says which addresses get receipts', async () => {
  const accountId = await anAccount(db.orm);
  const rut = await anEnterprise(db.orm, accountId);
  const browser = await site.as(await site.aMember(accountId, 'MEMBER'));
  const path = `/enterprises/${rut}/customers`;
  // As browsers send a form: what is empty too.
  const unsaid = ['fiscal_address', 'city', 'department', 'country'].map((name): [string, string] => [
    name,
    '',
  ]);
  const document = randomUUID().slice(0, 18);
  const said: [string, string][] = [
    ['type', 'NIFE'],
    ['document', document],
    ['legal_name', 'Ñandú Exports'],
    ...unsaid,
    ['country_code', 'br'],
    ['email', 'uno@example.com'],
    ['email', ''],
    ['email', 'dos@example.com'],
    ['send', '2'],
  ];
  const added = await send(browser, path, said);
  const em = db.orm.em.fork();
  const customer = await em.findOneOrFail(Customer, { rut, docNumber: document });
  expect(added.to).toBe(`${path}/${customer.id}`);
  expect(customer.countryCode).toBe('BR');
  expect(customer.notifications).toEqual([
    { type: 'EMAIL', destination: 'uno@example.com', enabled: false },
    { type: 'EMAIL', destination: 'dos@example.com', enabled: true },
  ]);
  expect((await send(browser, path, said)).told).toContain('already');
  const wrong: [string, string][] = [
    ['type', 'RUC'],
    ['document', '1'],
    ['legal_name', 'x'],
    ...unsaid,
    ['country_code', ''],
  ];
  expect((await send(browser, path, wrong)).told).toContain('Document: must have 12 digits.');
  expect((await browser.get(`${path}?legalName=nandu`)).text).toContain('Ñandú Exports');
  expect((await browser.get(`${path}?legalName=otro`)).text).not.toContain('Ñandú Exports');
  expect((await browser.get(`${path}?format=csv`)).text).toContain(
    `Ñandú Exports,NIFE,${document},,,,,BR,dos@example.com`,
  );

  await send(browser, `${path}/${customer.id}`, [
    ['legal_name', 'Otro nombre'],
    ...unsaid,
    ['country_code', ''],
    ['email', 'uno@example.com'],
    ['send', '0'],
  ]);
  const changed = await db.orm.em.fork().findOneOrFail(Customer, { rut, id: customer.id });
  expect(changed).toMatchObject({ legalName: 'Otro nombre', countryCode: null });
  expect(changed.notifications).toEqual([{ type: 'EMAIL', destination: 'uno@example.com', enabled: true }]);
  expect((await send(browser, `${path}/${customer.id}/delete`, [['sure', 'yes']])).to).toBe(path);
  expect((await browser.get(`${path}/${customer.id}`)).status).toBe(404);
  const acts = await em.find(AuditEntry, { subject: customer.id }, { orderBy: { id: 'asc' } });
  expect(acts.map(({ action }) => action)).toEqual(['customer.create', 'customer.update', 'customer.delete']);
});

test('customers of one name are paged each once', async () => {
  const accountId = await anAccount(db.orm);
  const rut = await anEnterprise(db.orm, accountId);
  const now = new Date();
  const numbers = Array.from({ length: 120 }, (_, i) => `n${String(i).padStart(4, '0')}`);
  const facts = { legalNameSearch: 'igual', notifications: [], createdAt: now, updatedAt: now };
  await db.orm.em.fork().insertMany(
    Customer,
    numbers.map((docNumber) => ({
      ...facts,
      rut,
      docNumber,
      givenNumber: docNumber,
      docType: 'NIFE' as const,
      id: randomUUID(),
      legalName: 'Igual',
    })),
  );
  const browser = await site.as(await site.aMember(accountId, 'VIEWER'));
  const found: string[] = [];
  for (let path: string | undefined = `/enterprises/${rut}/customers`; path !== undefined; ) {
    const { text } = await browser.get(path);
    found.push(...[...text.matchAll(/>(n\d{4})</g)].map(([, number]) => number ?? ''));
    path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(found).toEqual(numbers);
});
