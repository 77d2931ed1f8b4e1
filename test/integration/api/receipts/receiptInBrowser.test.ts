import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { storeLogo } from '../../../../src/db/enterprises/enterprises.ts';
import { Enterprise } from '../../../../src/db/entities/enterprises.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { axeFaults, openBrowser, testWithBrowser } from '../../../support/console/browser.ts';
import { aPng } from '../../../support/console/pictures.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { bringTo } from '../../../support/receipts/signedCfes.ts';

/** A small telephone. */
const WIDTH = 360;

const suite = useApi();
let browser: Browser | undefined;
let rut: string;
beforeAll(async () => {
  const { orm } = suite.db;
  rut = await aReadyEnterprise(orm, suite.owner.accountId);
  const em = orm.em.fork();
  const logoSha256 = await storeLogo(em, { bytes: aPng(400, 120), mediaType: 'image/png' }, new Date());
  await em.nativeUpdate(
    Enterprise,
    { rut },
    { logoSha256, website: 'https://tienda.example', resolution: '12/2024' },
  );
});
afterAll(() => browser?.close());

/** Issues a CFE, brings it to a status, and answers where its page is. */
async function aPage(to: Parameters<typeof bringTo>[2], wishes: CfeWishes = {}): Promise<string> {
  const { type = 'ETICKET' } = wishes;
  const { data } = await suite.owner.client.post<{ cfe_id: string; receipt_url: string }>(
    `/enterprises/${rut}/cfes`,
    aCfeBody(wishes),
  );
  await bringTo(suite.db.orm, { rut, type, sequence: Number(data.cfe_id.split('-')[1]) }, to);
  return new URL(new URL(data.receipt_url).pathname, suite.api.baseUrl).href;
}

const ACCEPTED = { status: 'ACCEPTED' } as const;
const LONG = 'Supercalifragilísticoespialidoso'.repeat(3);

const PAGES: Readonly<Record<string, () => Promise<string>>> = {
  'an e-Ticket': () => aPage(ACCEPTED),
  'an e-Factura with the longest words': () =>
    aPage(ACCEPTED, {
      type: 'EFACTURA',
      net: 99_999_999.99,
      itemName: LONG.slice(0, 80),
      currency: 'USD',
      exchangeRate: 40.125,
      extra: { adenda: `${LONG}${LONG}\n${LONG}`, purchase_order: LONG.slice(0, 50) },
    }),
  'an export': () => aPage(ACCEPTED, { type: 'EFACTURA_EXPORT' }),
  'a rejected one': () =>
    aPage({ status: 'REJECTED', rejection: [{ code: 'E05', message: 'no', detail: null }] }),
  'one in process': () => aPage({ status: 'PENDING' }),
  'the verification form': async () => new URL('/verificar', suite.api.baseUrl).href,
  'a miss there': async () => new URL('/verificar?ruc=1', suite.api.baseUrl).href,
  none: async () => new URL('/r/aaaaaaaaaaaaaaaaaaaaaa', suite.api.baseUrl).href,
};

/** Opens a page as on a telephone; answers it with the addresses that it asked for. */
async function visit(address: string): Promise<{ page: Page; asked: string[]; said: string[] }> {
  browser ??= await openBrowser();
  const page = await browser.newPage({
    viewport: { width: WIDTH, height: 740 },
    isMobile: true,
    locale: 'es-UY',
  });
  const asked: string[] = [];
  const said: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  await page.goto(address);
  return { page, asked, said };
}

testWithBrowser.each(Object.keys(PAGES))('%s: readable on a telephone, for everybody', async (name) => {
  const address = (await PAGES[name]?.()) ?? '';
  const { page, asked, said } = await visit(address);

  // What stands in the page itself is no request to a host.
  expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([address]);
  // Nothing is against the policy; Chromium tells the status of what is not 200.
  expect(said.filter((words) => !words.includes('404'))).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(WIDTH);
  expect(await page.evaluate('document.scripts.length')).toBe(0);

  expect(await axeFaults(page)).toEqual([]);
  await page.close();
});

testWithBrowser('letters of at least 14 px, and files by a thumb’s width', async () => {
  const { page } = await visit(await aPage(ACCEPTED));
  const smallest = await page.evaluate(
    `Math.min(...[...document.body.querySelectorAll('*')].filter((one) => one.checkVisibility() && one.innerText)
      .map((one) => Number.parseFloat(getComputedStyle(one).fontSize)))`,
  );
  expect(smallest).toBeGreaterThanOrEqual(14);
  for (const link of await page.locator('nav a').all()) {
    expect((await link.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  }
  await page.close();
});

testWithBrowser('printed, it leaves the links to files out', async () => {
  const { page } = await visit(await aPage(ACCEPTED));
  expect(await page.locator('nav').isVisible()).toBe(true);
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('nav').isVisible()).toBe(false);
  expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-');
  await page.close();
});

testWithBrowser('the verification form leads from the paper to its receipt', async () => {
  const shown = await visit(await aPage(ACCEPTED));
  const [, serie = '', numero = ''] = (await shown.page.locator('h1').innerText()).split(' ');
  const { page, said } = await visit(new URL('/verificar', suite.api.baseUrl).href);
  await page.getByLabel('RUC emisor').fill(rut);
  await page.getByLabel('Tipo de comprobante').selectOption({ label: 'e-Ticket' });
  await page.getByLabel('Serie').fill(serie.toLowerCase());
  await page.getByLabel('Número').fill(numero);
  await page.getByLabel('Código de seguridad').fill('aB+/9z');
  await page.getByRole('button', { name: 'Verificar' }).click();
  await page.waitForURL(/codigo=/);
  expect(await page.locator('h1').innerText()).toBe(`e-Ticket ${serie} ${numero}`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Descargar XML firmado' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.xml$/);
  expect(said).toEqual([]);
  await page.close();
  await shown.page.close();
});

testWithBrowser('its links lead to the files of this receipt', async () => {
  const { page } = await visit(await aPage(ACCEPTED));
  for (const name of ['Descargar PDF', 'Descargar XML firmado']) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^${rut}-101-A-\\d+\\.(pdf|xml)$`));
  }
  await page.close();
});
