import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { testWith } from './simulator/tools.ts';

/** Debian's, unless told. */
const CHROMIUM = process.env['CHROMIUM_PATH'] || '/usr/bin/chromium';

/** For tests that need a browser; in CI they run, and fail, without one. */
export const testWithBrowser = testWith(existsSync(CHROMIUM), 'chromium (CHROMIUM_PATH)');

/** A browser without a window. The caller closes it. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
