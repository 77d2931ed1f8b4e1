import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RateLimit } from '../../../src/db/entities/people.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { axeFaults, openBrowser, testWithBrowser } from '../../support/console/browser.ts';
import { type Browser, startConsole, type TestConsole } from '../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';

/** Where to leave pictures of the pages. */
const PICTURES = process.env['CONSOLE_PICTURES'];

let db: TestDatabase;
let site: TestConsole;
let browser: Browser;
let path: string;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
  browser = await site.as(await site.anOperator('ADMIN'));
  path = `/accounts/${await anAccount(db.orm)}`;
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** The forms of a page, each with what is folded around it. */
const formsOf = (text: string): string[] =>
  [...text.matchAll(/(?:<details[^>]*><summary[^>]*>[^<]*<\/summary>)?<form [\s\S]*?<\/form>/g)].map(
    ([form]) => form,
  );
const faultsIn = (form: string): string[] =>
  [...form.matchAll(/<p class="fault" id="fault-(\w+)">([^<]*)</g)].map(([, name, why]) => `${name}: ${why}`);

test('each fault stands at its field, in the form that was sent and no other, once', async () => {
  const sent = { environment: 'sandbox', per_hour: '0', reason: ' ' };
  expect((await browser.send(`${path}/limit`, sent)).to).toBe(path);
  const { text } = await browser.get(path);
  expect(text).toContain(
    'por hora: está fuera del rango permitido. Motivo (queda en la auditoría): está vacío.',
  );

  const wrong = formsOf(text).filter((form) => faultsIn(form).length > 0);
  expect(wrong).toHaveLength(1);
  const [form = ''] = wrong;
  expect(form).toMatch(/^<details class="act" open>/);
  expect(form).toContain('name="environment" value="sandbox"');
  expect(faultsIn(form)).toEqual(['per_hour: Está fuera del rango permitido.', 'reason: Está vacío.']);
  expect(form.match(/aria-invalid="true" aria-describedby="fault-per_hour"/g)).toHaveLength(1);
  expect(faultsIn((await browser.get(path)).text)).toEqual([]);
  expect(await db.orm.em.fork().count(RateLimit, {})).toBe(0);
});

test('a check digit is told at its field, too', async () => {
  const enterprise = { rut: '219000090012', role: 'VIEWER', reason: 'Lo pidió Ana' };
  await browser.send(`${path}/grants`, enterprise);
  const { text } = await browser.get(path);
  expect(formsOf(text).flatMap(faultsIn)).toEqual(['rut: Tiene mal el dígito verificador (el último).']);
});

test('a field that the form does not have, or a hidden one that was changed, is refused as a whole', async () => {
  const fields = { environment: 'sandbox', per_hour: '5', reason: 'Lo pidió Ana' };
  for (const more of [{ more: 'x' }, { environment: 'elsewhere' }] as Record<string, string>[]) {
    expect((await browser.send(`${path}/limit`, { ...fields, ...more })).to).toBe(path);
    const { text } = await browser.get(path);
    expect(text).toContain('class="flash failed"');
    expect(formsOf(text).flatMap(faultsIn)).toEqual([]);
  }
  expect(await db.orm.em.fork().count(RateLimit, {})).toBe(0);
});

testWithBrowser(
  'a browser shows the fault at the field with what was typed, and still after an update',
  async () => {
    await using chromium = await openBrowser();
    const page = await (await chromium.newContext({ baseURL: site.url, locale: 'es-UY' })).newPage();
    const cookies = [...browser.cookies].map(([name, value]) => ({ name, value, url: site.url }));
    await page.context().addCookies(cookies);
    await page.goto(path);
    await page.getByText('Agregar una persona').click();
    const form = page.locator(`form[action="${path}/people"]`);
    await form.locator('[name=email]').fill('ana@localhost');
    await form.getByRole('button').click();
    const fault = page.getByText('No es una dirección de correo.', { exact: true });
    await fault.waitFor();
    expect(await form.locator('[name=email]').inputValue()).toBe('ana@localhost');
    expect(await form.locator('[name=email]').getAttribute('aria-describedby')).toBe('fault-email');
    expect(await axeFaults(page)).toEqual([]);
    if (PICTURES) await page.screenshot({ path: join(PICTURES, 'console-fault.png'), fullPage: true });

    const updated = page.waitForResponse((response) => response.url().endsWith(path));
    await page.evaluate("htmx.trigger('#main', 'changed')");
    await updated;
    await page.waitForFunction("!document.querySelector('.htmx-request')");
    expect(await fault.count()).toBe(1);
  },
);
