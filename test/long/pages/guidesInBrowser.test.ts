import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { Orm } from '../../../src/db/orm.ts';
import { CODE_VARIANTS, GUIDE_LANGUAGES, SLUGS } from '../../../src/handbook/guides.ts';
import { startApi, type TestApi } from '../../support/api/api.ts';
import { axeFaults, openBrowser, testWithBrowser } from '../../support/console/browser.ts';

/** Where to leave a picture of each page, for who wants to look at them. */
const PICTURES = process.env['GUIDES_PICTURES'];
const WINDOWS = { telephone: { width: 360, height: 740 }, desk: { width: 1280, height: 900 } };

let api: TestApi;
let browser: Browser | undefined;
beforeAll(async () => {
  api = await startApi({ orm: {} as Orm });
});
afterAll(async () => {
  await browser?.close();
  await api[Symbol.asyncDispose]();
});

const PATHS = GUIDE_LANGUAGES.flatMap((language) => [
  `/${language}?code=sh`,
  ...SLUGS.map((slug, i) => `/${language}/${slug}?code=${CODE_VARIANTS[i % CODE_VARIANTS.length]}`),
  `/${language}/search?code=py&q=pay_amount`,
  `/${language}/search?q=zzzz`,
]);

testWithBrowser.each([
  ['light', 'desk'],
  ['dark', 'telephone'],
] as const)(
  'the guides, %s, on a %s: nothing that axe finds, nothing refused, nothing too wide',
  async (theme, window) => {
    browser ??= await openBrowser();
    const context = await browser.newContext({ colorScheme: theme, viewport: WINDOWS[window] });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => void faults.push(message.text()));
    page.on('requestfailed', (request) => void faults.push(request.url()));
    for (const path of PATHS) {
      await page.goto(`${api.baseUrl}/docs${path}`);
      const found = await axeFaults(page, theme === 'light' ? 'all' : 'colours');
      const width = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect({ path, found, width, faults }).toEqual({ path, found: [], width: 0, faults: [] });
      if (PICTURES) {
        mkdirSync(PICTURES, { recursive: true });
        const name = path.replaceAll(/[^a-z]+/g, '-');
        await page.screenshot({ path: join(PICTURES, `${theme}-${window}${name}.png`), fullPage: true });
      }
    }
    await context.close();
  },
);
