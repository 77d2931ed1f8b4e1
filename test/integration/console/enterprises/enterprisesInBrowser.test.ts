import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { Enterprise } from '../../../../src/db/entities/enterprises.ts';
import { DailyReport, ReportSubmission } from '../../../../src/db/entities/reports.ts';
import { listPlans } from '../../../../src/db/people/payments.ts';
import { dateText } from '../../../../src/domain/values/figures.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import { openBrowser, testWithBrowser } from '../../../support/console/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { anEnterprise, aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCertificate, day } from '../../../support/receipts/papers.ts';
import { aReceipt } from '../../../support/reports/receipts.ts';
import { storeCfes } from '../../../support/reports/stored.ts';
import { storeSubmission } from '../../../support/reports/submission.ts';

/** Where to leave pictures of the pages, for who wants to look at them. */
const PICTURES = process.env['CONSOLE_PICTURES'];
const PASSWORD = 'clave de prueba';

let db: TestDatabase;
let site: TestConsole;
let browser: Browser | undefined;
let account: string;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
  account = await anAccount(db.orm);
});
afterAll(async () => {
  await browser?.close();
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

async function aPage(javaScriptEnabled = true): Promise<Page> {
  browser ??= await openBrowser();
  const context = await browser.newContext({
    baseURL: site.url,
    locale: 'es-UY',
    viewport: { width: 1100, height: 720 },
    javaScriptEnabled,
  });
  const { cookies } = await site.as(await site.aMember(account, 'OWNER'));
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: site.url })));
  return context.newPage();
}
async function picture(page: Page, name: string): Promise<void> {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `console-${name}.png`) });
}

testWithBrowser.each([
  ['with script', true],
  ['without script', false],
])('%s, an owner sees what an enterprise lacks and uploads its certificate', async (_, script) => {
  const rut = await anEnterprise(db.orm, account, { permissions: ['HOMO', 'PROD'], loginStatus: 'SUCCESS' });
  const page = await aPage(script);
  await page.goto('/enterprises?lacks=validCertificate');
  await page.getByRole('link', { name: rut }).click();
  const lacking = page.getByRole('listitem').filter({ hasText: 'certificado vigente' });
  expect(await lacking.count()).toBe(1);
  if (script) await picture(page, 'enterprise');

  await page.getByText('Cargar certificado', { exact: true }).click();
  const { certB64 } = aCertificate({ rut, password: PASSWORD });
  const buffer = Buffer.from(certB64, 'base64');
  const form = page.locator(`form[action="/enterprises/${rut}/certificate"]`);
  await form.locator('input[type=file]').setInputFiles({ name: 'empresa.p12', mimeType: '', buffer });
  await form.getByLabel('Contraseña del archivo').fill(PASSWORD);
  await form.getByRole('button', { name: 'Cargar' }).click();

  await page.getByRole('status').waitFor();
  expect(await page.getByRole('status').textContent()).toContain(`hasta el ${dateText(day(365))}`);
  expect(await lacking.count()).toBe(0);
  await page.context().close();
});

/** Draws the page anew, as after a change, until it shows that text. */
async function drawnWith(page: Page, text: string): Promise<void> {
  await page.evaluate("htmx.trigger('#main', 'changed')");
  await page.locator('dd', { hasText: text }).first().waitFor();
}

testWithBrowser('what a colleague changes while a page is open stays, whoever saves after them', async () => {
  const rut = await anEnterprise(db.orm, account, { planId: 'FREE', frequencyId: 'MONTHLY' });
  const change = (values: Partial<Enterprise>) => db.orm.em.fork().nativeUpdate(Enterprise, { rut }, values);
  const [plan] = (await listPlans(db.orm.em.fork())).filter(({ planId }) => planId !== 'FREE');
  if (!plan) throw new Error('there is one plan only');
  const page = await aPage();
  const form = page.locator(`form[action="/enterprises/${rut}/data"]`);
  const field = (name: string) => form.locator(`[name=${name}]`);
  await page.goto(`/enterprises/${rut}`);
  await page.locator('#data summary').first().click();
  // Typed and taken back: nothing that anybody meant to change.
  await field('email').fill('x');
  await field('email').fill('');
  await change({ email: 'beto@example.com', planId: plan.planId, frequencyId: plan.frequencyId });
  await drawnWith(page, 'beto@example.com');
  expect(await field('email').inputValue()).toBe('beto@example.com');

  await field('phone_number').fill('24001234');
  await change({ website: 'https://beto.example', email: 'otra@example.com' });
  await drawnWith(page, 'otra@example.com');
  expect(await field('phone_number').inputValue()).toBe('24001234');
  await form.getByRole('button', { name: 'Guardar' }).click();
  await page.getByRole('status').waitFor();
  expect(await db.orm.em.fork().findOneOrFail(Enterprise, { rut })).toMatchObject({
    email: 'otra@example.com',
    website: 'https://beto.example',
    phoneNumber: '24001234',
    planId: plan.planId,
    frequencyId: plan.frequencyId,
  });
  await page.context().close();
});

/** What has the focus behind the words that a form was answered with, wherever one tabs to. */
const hiddenFocus = (page: Page): Promise<string[]> =>
  page.evaluate<
    string[]
  >(`[...document.querySelectorAll('main :is(a, button, input:not([type=hidden]), select, summary)')].toReversed().flatMap((one) => {
    one.focus();
    const [flash, box] = [document.querySelector('.flash'), one].map((of) => of.getBoundingClientRect());
    return document.activeElement === one && box.top >= flash.top && box.bottom <= flash.bottom ? [one.outerHTML] : [];
  })`);

testWithBrowser('what a form did is in sight where the form is, and hides nothing', async () => {
  const rut = await anEnterprise(db.orm, account);
  const page = await aPage();
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [1100, 'light'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 720 });
    await page.goto(`/enterprises/${rut}`);
    const form = page.locator(`form[action="/enterprises/${rut}/branches"]`);
    await page.locator('#branches summary').last().click();
    for (const name of ['branch', 'street_name', 'locality_name', 'department_name'])
      await form.locator(`[name=${name}]`).fill(name === 'branch' ? 'x' : 'Salto');
    await form.getByRole('button').click();
    await page.locator('.flash.failed').waitFor();
    await page.waitForLoadState();
    expect(await page.evaluate('window.scrollY')).toBeGreaterThan(0);
    const { y, height } = (await page.locator('.flash').boundingBox()) ?? { y: -1, height: 0 };
    expect([y >= 0, y + height <= 360]).toEqual([true, true]);
    // The form is open, with what was typed.
    expect(await form.locator('[name=locality_name]').inputValue()).toBe('Salto');
    expect(await form.locator('[name=branch]').isVisible()).toBe(true);
    await picture(page, `told-${width}`);
    expect(await hiddenFocus(page)).toEqual([]);
  }
  await page.context().close();
});

testWithBrowser('a report that differs is found in the list, and read', async () => {
  const rut = await aReadyEnterprise(db.orm, account, { values: { tradeName: 'Almacén Ñandú' } });
  const key = { rut, environment: 'production', date: '2026-03-10' } as const;
  const amounts = { basicNet: '1000.00', basicVat: '220.00', total: '1220.00' };
  const cfes = [1, 2, 3].map((numero) => ({
    document: aReceipt('ETICKET', numero, amounts),
    status: numero === 3 ? ('RECEIVED' as const) : ('ACCEPTED' as const),
  }));
  await storeCfes(db.orm, { accountId: account, rut, settledAt: new Date('2026-03-10T20:00:00Z') }, cfes);
  await storeSubmission(db.orm, key, { stuckReason: 'report.differs' });
  const em = db.orm.em.fork();
  await em.nativeUpdate(DailyReport, { ...key }, { status: 'DIFFERS' });
  await em.nativeUpdate(ReportSubmission, { ...key }, { status: 'DIFFERS', reasons: null });

  const page = await aPage();
  await page.goto('/reports');
  await page.getByRole('link', { name: '10/03/2026' }).first().click();
  const difference = page.getByRole('region', { name: 'Lo informado y lo registrado ahora' });
  expect(await difference.locator('tbody tr').first().textContent()).toContain('+1');
  await picture(page, 'report');
  await page.context().close();
});
