import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { testWith } from './simulator/tools.ts';

/** Debian's, unless told. */
const CHROMIUM = process.env['CHROMIUM_PATH'] || '/usr/bin/chromium';

/** For tests that need a browser; in CI they run, and fail, without one. */
export const testWithBrowser = testWith(existsSync(CHROMIUM), 'chromium (CHROMIUM_PATH)');

/** A browser without a window. The caller closes it. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });

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
