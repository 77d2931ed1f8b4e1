import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { testWith } from '../simulator/tools.ts';
import { PATIENCE } from '../until.ts';

/** Debian's, unless told. */
const CHROMIUM = process.env['CHROMIUM_PATH'] || '/usr/bin/chromium';

/** For tests that need a browser; in CI they run, and fail, without one. */
export const testWithBrowser = testWith(existsSync(CHROMIUM), 'chromium (CHROMIUM_PATH)');

/** A browser without a window, whose pages are patient. The caller closes it. */
export async function openBrowser(): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(30_000 * PATIENCE);
    return context;
  };
  return browser;
}

/** Signs in at the console as a person does: types, and sends with Enter. `code` is asked for where it is wanted. */
export async function signIn(
  page: Page,
  { email, password, code }: { email: string; password: string; code?: (() => string) | undefined },
): Promise<void> {
  await page.goto('/');
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.keyboard.press('Enter');
  if (code) {
    await page.locator('input[name=code]').fill(code());
    await page.keyboard.press('Enter');
  }
  await page.waitForURL(({ pathname }) => pathname === '/');
}

/** What goes wrong in a page from now on: errors of its console, and of its scripts. */
export function faultsIn(page: Page): string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  return faults;
}

/** What axe-core finds in a page, with where: by all its rules, or in another theme by those of colours alone. */
export async function axeFaults(page: Page, rules: 'all' | 'colours' = 'all'): Promise<unknown[]> {
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(axe.source);
  const options = rules === 'all' ? '' : `{ runOnly: ['color-contrast'] }`;
  const { violations } = (await page.evaluate(`axe.run(${options})`)) as axe.AxeResults;
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 300))]);
}

/** How many pixels a page is wider than its window. */
export const tooWide = (page: Page): Promise<number> =>
  page.evaluate('Math.max(0, document.documentElement.scrollWidth - window.innerWidth)');
