import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { Account } from '../../../src/db/entities/people.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { Delivery, DeliveryAttempt, Webhook } from '../../../src/db/entities/webhooks.ts';
import { addDays, montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { openBrowser, testWithBrowser } from '../../support/console/browser.ts';
import { startConsole, type TestConsole } from '../../support/console/console.ts';
import { aTroubledAccount, type Troubled } from '../../support/console/consoleRows.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { giveCfes } from '../../support/mail/receipts.ts';
import { storeSubmission } from '../../support/reports/submission.ts';

/** Where to leave pictures of the pages, for who wants to look at them. */
const PICTURES = process.env['CONSOLE_PICTURES'];

let db: TestDatabase;
let site: TestConsole;
let browser: Browser | undefined;
let own: Troubled;
let hook: string;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
  own = await aTroubledAccount(db.orm, { name: 'Almacén Ñandú', stuck: 'authority.certificate' });
  const other = await aTroubledAccount(db.orm, { name: 'Ferretería del Puerto', stuck: 'undecided' });
  const em = db.orm.em.fork();
  const date = addDays(montevideoDate(new Date()), -2);
  await storeSubmission(
    db.orm,
    { rut: own.rut, environment: 'production', date },
    { stuckReason: 'report.content' },
  );
  await em.nativeUpdate(Account, { id: own.accountId }, { name: 'Estudio Rodríguez' });
  for (const one of [own, other]) await giveReceipts(one);
  const webhook = await em.findOneOrFail(Webhook, { accountId: own.accountId });
  hook = webhook.id;
  const { id: deliveryId } = await em.findOneOrFail(Delivery, { webhookId: hook });
  for (const [index, minutes] of [40, 39, 34, 4].entries())
    await em.insert(DeliveryAttempt, {
      deliveryId,
      number: index + 1,
      execution: randomUUID(),
      at: new Date(Date.now() - minutes * 60_000),
      httpStatus: 503,
      error: null,
      answer: 'Service Unavailable',
      milliseconds: 143,
    });
});
afterAll(async () => {
  await browser?.close();
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** Accepted, rejected and observed ones of several receivers; those that wait have a document too. */
async function giveReceipts(issuer: Troubled): Promise<void> {
  const em = db.orm.em.fork();
  const receivers = ['María Fernanda Gutiérrez', 'Distribuidora Oriental S.R.L.', 'Bar El Hacha'];
  for (const [index, legalName] of receivers.entries()) {
    const receiver = {
      document: { type: 'RUC', number: `21900009001${index}`, country: 'UY' },
      legalName,
    } as const;
    const status = (['ACCEPTED', 'OBSERVED', 'REJECTED'] as const)[index] ?? 'ACCEPTED';
    await giveCfes(db.orm, issuer, { status, count: 2, receiver });
  }
  const { document } = await em.findOneOrFail(Cfe, { rut: issuer.rut, sequence: 6 });
  for (const { id, numero } of await em.find(Cfe, { rut: issuer.rut })) {
    const named = { ...document.issuer, legalName: issuer.legalName };
    const own = (await em.findOneOrFail(Cfe, { id })).document;
    const shown = { ...document, ...own, numero, issuer: named };
    await em.nativeUpdate(Cfe, { id }, { document: shown, payAmount: `${numero * 1_845}.50` });
  }
}

async function aPage(who: 'SUPPORT' | 'OWNER'): Promise<Page> {
  browser ??= await openBrowser();
  const viewport = { width: 1280, height: 680 };
  const context = await browser.newContext({ baseURL: site.url, locale: 'es-UY', viewport });
  const person =
    who === 'SUPPORT' ? await site.anOperator('SUPPORT') : await site.aMember(own.accountId, 'OWNER');
  const { cookies } = await site.as(person);
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: site.url })));
  return context.newPage();
}

/** So much of each as tells what it is for. */
const HEIGHTS = { stuck: 710, cfes: 590, webhook: 680 } as const;

async function picture(page: Page, name: keyof typeof HEIGHTS): Promise<void> {
  if (!PICTURES) return;
  await page.setViewportSize({ width: 1280, height: HEIGHTS[name] });
  mkdirSync(PICTURES, { recursive: true });
  // The last of a webhook's page is what it is opened for.
  if (name === 'webhook') await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
  await page.screenshot({ path: join(PICTURES, `console-${name}.png`) });
}

/** What hides columns, breaks a day or a number in two, or stands in no line with its neighbours. */
const untidy = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const lines = (one) => new Set([...one.getClientRects()].map(({ top }) => Math.round(top))).size;
    return [
      ...all('.wide').filter((one) => one.scrollWidth > one.clientWidth).map((one) => 'cut off: ' + one.ariaLabel),
      ...all('time, td.figure > *, .nowrap').filter((one) => lines(one) > 1).map((one) => 'broken: ' + one.textContent),
      ...all('.filters').flatMap((one) => {
        const heights = [...one.querySelectorAll('input:not([type=hidden]), select, button')].map(({ offsetHeight }) => offsetHeight);
        return new Set(heights).size > 1 ? ['filters of unlike heights: ' + heights] : [];
      }),
      ...all('input[type=checkbox]').filter(({ offsetWidth }) => offsetWidth > 30).map(({ name }) => 'a wide box: ' + name),
    ];
  })()`);

testWithBrowser.each([
  ['SUPPORT', 'stuck', (): string => '/stuck', 'certificado no aceptado'],
  ['SUPPORT', 'cfes', (): string => '/cfes', 'Distribuidora Oriental S.R.L.'],
  ['OWNER', 'webhook', (): string => `/webhooks/${hook}`, 'fallida'],
] as const)('to %s the page of a list, %s, is tidy on a desk', async (who, name, path, text) => {
  const page = await aPage(who);
  await page.goto(path());
  expect(await page.locator('main').innerText()).toContain(text);
  expect(await untidy(page)).toEqual([]);
  await picture(page, name);
  await page.context().close();
});

testWithBrowser.each(['SUPPORT', 'OWNER'] as const)('to %s so is every other', async (who) => {
  const page = await aPage(who);
  const theirs = who === 'SUPPORT' ? ['/accounts', '/audit', '/rates'] : ['/keys', '/members', '/plan'];
  const both = [
    '/',
    '/cfes',
    '/webhooks',
    '/deliveries',
    '/runs',
    '/enterprises',
    '/reports',
    '/warnings?within=30',
  ];
  const found: unknown[] = [];
  for (const path of [...both, ...theirs]) {
    await page.goto(path);
    for (const fault of await untidy(page)) found.push([path, fault]);
  }
  expect(found).toEqual([]);
  await page.context().close();
});
