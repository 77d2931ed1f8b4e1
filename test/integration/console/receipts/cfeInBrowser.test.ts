import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { storeAttempts } from '../../../../src/db/authority/attempts.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { Delivery, Event } from '../../../../src/db/entities/webhooks.ts';
import type { AuthorityCallRecord } from '../../../../src/domain/authority/attempt.ts';
import { axeFaults, openBrowser, testWithBrowser, tooWide } from '../../../support/console/browser.ts';
import { startConsole, type TestConsole } from '../../../support/console/console.ts';
import { aTroubledAccount } from '../../../support/console/consoleRows.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { giveCfes } from '../../../support/mail/receipts.ts';

/** Where to leave pictures of the pages, for who wants to look at them. */
const PICTURES = process.env['CONSOLE_PICTURES'];
const MINUTE = 60_000;
const LOOKS = [
  ['light', { width: 1100, height: 720 }],
  ['dark', { width: 1100, height: 720 }],
  ['light', { width: 360, height: 740 }],
  ['dark', { width: 360, height: 740 }],
] as const;

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

/** A receipt that the authority has and does not decide: asked about for an hour, stuck now, its webhook failing. */
async function aStuckReceipt(): Promise<string> {
  const of = await aTroubledAccount(db.orm, { name: 'Almacén Ñandú', stuck: 'signing' });
  const [cfe] = await giveCfes(db.orm, of, { status: 'RECEIVED' });
  if (!cfe) throw new Error('no CFE was made');
  const call = (minutes: number, more: Partial<AuthorityCallRecord>): AuthorityCallRecord => ({
    operation: 'askVerdict',
    answer: 'code 105',
    result: 'answered',
    at: new Date(Date.now() - minutes * MINUTE),
    milliseconds: 180 + minutes,
    detail: null,
    reasons: [{ code: '105', message: 'Sobre pendiente de procesamiento', detail: null }],
    request: '<ConsultaCFE/>',
    response: Buffer.from('<Respuesta/>'),
    ...more,
  });
  const sent = call(61, { operation: 'sendSobre', answer: 'AS', result: 'received', reasons: [] });
  const em = db.orm.em.fork();
  await storeAttempts(em, cfe.id, [sent, ...[60, 40, 20, 1].map((minutes) => call(minutes, {}))], null);
  await em.nativeUpdate(Cfe, { id: cfe.id }, { stuckReason: 'undecided', requestId: 'caja-2/000317' });
  const cfeId = `101-${cfe.sequence}`;
  await em.nativeUpdate(Event, { rut: of.rut }, { body: JSON.stringify({ data: { cfe_id: cfeId } }) });
  expect(await em.count(Delivery, { status: 'FAILED' })).toBe(1);
  return `/cfes/${of.rut}/production/${cfeId}`;
}

/** The facts stand inside their panel, which would hide what does not. */
async function nothingIsCutOff(page: Page): Promise<void> {
  const hidden = await page.evaluate<string[]>(
    `[...document.querySelectorAll('.facts *')].filter((one) =>
      one.getBoundingClientRect().right > one.closest('.panel').getBoundingClientRect().right + 1).map((one) => one.outerHTML)`,
  );
  expect(hidden).toEqual([]);
}

testWithBrowser(
  'support reads why a receipt is stuck and sends its delivery again, on a desk and a telephone',
  async () => {
    const path = await aStuckReceipt();
    browser = await openBrowser();
    const context = await browser.newContext({ baseURL: site.url, locale: 'es-UY' });
    const { cookies } = await site.as(await site.anOperator('SUPPORT'));
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: site.url })));
    const page = await context.newPage();
    await page.goto(path);
    expect(await page.getByText('sin respuesta hace demasiado tiempo').count()).toBeGreaterThan(0);
    for (const [colorScheme, viewport] of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      expect(await axeFaults(page, colorScheme === 'light' ? 'all' : 'colours')).toEqual([]);
      expect(await tooWide(page)).toBe(0);
      await nothingIsCutOff(page);
      if (PICTURES && colorScheme === 'light' && viewport.width > 1_000) {
        mkdirSync(PICTURES, { recursive: true });
        const clip = { x: 0, y: 0, width: viewport.width, height: 480 };
        await page.screenshot({ path: join(PICTURES, 'console-cfe.png'), clip });
      }
    }
    const sent = page.getByRole('region', { name: 'Entregas de webhooks' });
    await sent.locator('summary').click();
    await sent.locator('input[name=reason]').fill('el servidor volvió');
    await sent.getByRole('button').click();
    await page.getByRole('status').waitFor();
    expect(page.url()).toMatch(/\/deliveries\/[0-9a-f-]{36}$/);
    await context.close();
  },
);
