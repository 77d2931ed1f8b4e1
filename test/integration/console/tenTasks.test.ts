import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { DailyReport } from '../../../src/db/entities/reports.ts';
import { recordAudit } from '../../../src/db/operations/audit.ts';
import { dateText } from '../../../src/domain/values/figures.ts';
import { addDays, montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { faultsIn, openBrowser, signIn, testWithBrowser } from '../../support/console/browser.ts';
import { PASSWORD, startConsole, type TestConsole, type TestPerson } from '../../support/console/console.ts';
import { aTroubledAccount, type Troubled } from '../../support/console/consoleRows.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anEnterprise } from '../../support/enterprises/enterprises.ts';
import { giveCfes } from '../../support/mail/receipts.ts';
import { day } from '../../support/receipts/papers.ts';
import { storeSubmission } from '../../support/reports/submission.ts';

/** What a person comes to the console for, as they do it, wherever nothing else than the console acts; with all behind it: long/console/consoleTasks. */
let db: TestDatabase;
let site: TestConsole;
let browser: Browser | undefined;
let bakery: Troubled;
let newcomer: string;
let operator: TestPerson;
let owner: TestPerson;
const YESTERDAY = addDays(montevideoDate(new Date()), -1);

beforeAll(async () => {
  db = await cloneDatabase();
  const { orm } = db;
  site = await startConsole(orm);
  bakery = await aTroubledAccount(orm, { name: 'Panaderia', stuck: 'authority.certificate' });
  const { accountId, rut } = bakery;
  await giveDocuments();
  newcomer = await anEnterprise(orm, accountId, { legalName: 'Heladería Nueva S.A.' });
  const report = { rut, environment: 'production', date: YESTERDAY } as const;
  await storeSubmission(orm, report, { stuckReason: 'report.differs' });
  await orm.em.fork().nativeUpdate(DailyReport, report, { status: 'DIFFERS' });
  await orm.em.fork().transactional(async (em) => {
    const act = {
      action: 'enterprise.suspend',
      subject: rut,
      rut,
      reason: 'asked for by the company',
    } as const;
    recordAudit(em, { actor: 'console:ana@example.com', ...act }, new Date());
  });
  operator = await site.anOperator('SUPPORT');
  owner = await site.aMember(accountId, 'OWNER');
});
afterAll(async () => {
  await browser?.close();
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** A browser in which somebody has signed in as a person does. */
async function enter(
  who: TestPerson,
  javaScriptEnabled: boolean,
): Promise<{ page: Page; faults: string[]; close: () => Promise<void> }> {
  browser ??= await openBrowser();
  const context = await browser.newContext({ baseURL: site.url, locale: 'en-GB', javaScriptEnabled });
  const page = await context.newPage();
  const faults = faultsIn(page);
  const code = who.totp ? () => site.codeOf(who) : undefined;
  await signIn(page, { email: who.email, password: PASSWORD, code });
  return { page, faults, close: () => context.close() };
}

const main = (page: Page) => page.locator('main').innerText();
const flash = async (page: Page) => (await page.locator('.flash.done').innerText()).trim();
/** A link of the frame. */
const open = (page: Page, name: string) =>
  page.locator('nav').getByRole('link', { name, exact: true }).click();

/** Finds a receipt by the number that is printed on it. */
async function findByNumber(page: Page, numero: number): Promise<void> {
  await page.locator('input[name=q]').fill(`A ${numero}`);
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/cfes/${bakery.rut}/production/101-${numero}$`));
}

testWithBrowser.each([
  [true, 1],
  [false, 2],
])(
  'support, with script %s: finds a receipt, reads the report, the audit, what ends',
  async (script, numero) => {
    const { page, faults, close } = await enter(operator, script);
    await findByNumber(page, numero);

    await open(page, 'Reports');
    await page
      .getByRole('link', { name: dateText(YESTERDAY) })
      .first()
      .click();
    await page.waitForURL(/\/reports\//);
    const report = await main(page);
    expect(report).toContain('its receipts differ from those reported');
    expect(report).toContain('−1');

    await open(page, 'Audit');
    await page.locator('input[name=person]').fill('ana@example.com');
    await page.keyboard.press('Enter');
    await page.waitForURL(/person=ana/);
    const acts = await main(page);
    expect(acts).toContain('enterprise.suspend');
    expect(acts).toContain('asked for by the company');

    await open(page, 'Home');
    const warnings = page.locator('.panel', { hasText: 'Expiring soon and running low' });
    expect(await warnings.innerText()).toContain(dateText(day(5)));
    await warnings.getByRole('link').first().click();
    await page.waitForURL(new RegExp(`/enterprises/${bakery.rut}#caes$`));
    expect(await main(page)).toContain(dateText(day(5)));
    expect(faults).toEqual([]);
    await close();
  },
);

testWithBrowser.each([true, false])(
  'a customer, with script %s: why an enterprise is not READY, a key, out everywhere',
  async (script) => {
    const { page, faults, close } = await enter(owner, script);
    await open(page, 'Companies');
    await page.getByRole('link', { name: newcomer }).first().click();
    await page.waitForURL(new RegExp(`/enterprises/${newcomer}$`));
    expect(await main(page)).toMatch(/certificate/i);

    await open(page, 'API keys');
    await page.locator('form[action="/keys"] input[name=label]').fill('Caja 1');
    await page.locator('form[action="/keys"] button').click();
    expect(await page.locator('code.once').innerText()).toMatch(/^cfe_live_/);

    const elsewhere = await enter(owner, script);
    await page.goto('/me');
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    await flash(page);
    await elsewhere.page.goto('/cfes');
    await elsewhere.page.waitForURL(/\/sign-in/);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL(/\/sign-in$/);
    expect(faults).toEqual([]);
    await elsewhere.close();
    await close();
  },
);

/** Each of the bakery's receipts gets a document that a page can show. */
async function giveDocuments(): Promise<void> {
  const { accountId, rut } = bakery;
  const [model] = await giveCfes(db.orm, { accountId, rut }, { status: 'ACCEPTED' });
  await db.orm.em.fork().execute(
    `update cfe set document = model.document || jsonb_build_object('numero', cfe.numero)
       from (select document from cfe where id = ?) model where rut = ?`,
    [model?.id, rut],
  );
}

testWithBrowser(
  'by keyboard alone: go to the search field, along the rows, ticking and opening them, and the help',
  async () => {
    const { page, faults, close } = await enter(operator, true);
    await page.goto('/stuck');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('k');
    const ticked = () => page.locator('table.list input[type=checkbox]:checked').count();
    expect(await ticked()).toBe(2);
    await page.keyboard.press('a');
    expect(await page.evaluate('document.activeElement.name')).toBe('kind');
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('?');
    expect(await page.locator('#keys[open]').count()).toBe(1);
    // Over the page nothing else happens.
    await page.keyboard.press('x');
    await page.keyboard.press('Escape');
    expect(await ticked()).toBe(2);
    await page.keyboard.press('/');
    await page.keyboard.type('jx?');
    expect(await page.locator('input[name=q]').inputValue()).toBe('jx?');
    await page.locator('table.list tbody tr').first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/cfes\/\d+\/production\/101-\d+$/);
    expect(faults).toEqual([]);
    await close();
  },
);
