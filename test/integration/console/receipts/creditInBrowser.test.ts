import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import {
  axeFaults,
  faultsIn,
  openBrowser,
  testWithBrowser,
  tooWide,
} from '../../../support/console/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { giveCfes } from '../../../support/mail/receipts.ts';

const WINDOWS = [
  { width: 1100, height: 720 },
  { width: 360, height: 740 },
];

let db: TestDatabase;
let site: TestConsole;
let browser: Browser | undefined;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
});
afterAll(async () => {
  await browser?.close();
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

testWithBrowser('a member credits half a line, is told of a typing mistake, and clicks twice', async () => {
  const accountId = await anAccount(db.orm);
  const rut = await aReadyEnterprise(db.orm, accountId);
  const [cfe] = await giveCfes(db.orm, { accountId, rut }, { status: 'ACCEPTED' });
  browser = await openBrowser();
  const context = await browser.newContext({ baseURL: site.url, locale: 'es-UY' });
  const { cookies } = await site.as(await site.aMember(accountId, 'MEMBER'));
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: site.url })));
  const page = await context.newPage();
  const faults = faultsIn(page);
  const fits = async () => {
    for (const viewport of WINDOWS) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await axeFaults(page, colorScheme === 'light' ? 'all' : 'colours')).toEqual([]);
      }
      expect(await tooWide(page)).toBe(0);
    }
  };
  await page.goto(`/cfes/${rut}/production/101-${cfe?.sequence}`);
  await fits();
  await page.getByRole('link', { name: 'Emitir una nota de crédito' }).click();

  const form = page.locator('details', { hasText: 'Acreditar cantidades de líneas' });
  await form.locator('summary').click();
  await form.getByLabel('Línea 1').fill('1,5');
  await form.getByLabel('Motivo').fill('Devolución');
  await form.getByRole('button').click();
  await form.getByText('Es más de lo que queda por acreditar.').waitFor();
  // The script that fills the form in again has run by then.
  await page.waitForLoadState('load');
  expect(await form.getByLabel('Motivo').inputValue()).toBe('Devolución');
  await fits();
  await form.getByLabel('Línea 1').fill('0,5');
  await form.getByRole('button').click();

  const issue = page.getByRole('button', { name: 'Emitir la nota de crédito por UYU 610,00' });
  await issue.waitFor();
  await fits();
  expect(await db.orm.em.fork().count(Cfe, { rut, type: 'ETICKET_NC' })).toBe(0);
  await issue.dblclick();
  await page.getByText('Se emitió la nota de crédito por UYU 610,00.').waitFor();
  expect(page.url()).toMatch(/\/102-1$/);
  expect(await db.orm.em.fork().count(Cfe, { rut, type: 'ETICKET_NC' })).toBe(1);
  expect(faults).toEqual([]);
  await context.close();
});
