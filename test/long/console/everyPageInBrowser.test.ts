import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { inviteMember } from '../../../src/commands/people/members.ts';
import { inviteUser } from '../../../src/commands/people/users.ts';
import { axeFaults, openBrowser, testWithBrowser, tooWide } from '../../support/console/browser.ts';
import { PASSWORD, startConsole } from '../../support/console/console.ts';
import { CONSOLE_PAGES, type Sample } from '../../support/console/consolePages.ts';
import { aWorld, type Who, type World } from '../../support/console/consoleWorld.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';

const TELEPHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };
const SHOWN = Object.entries(CONSOLE_PAGES).filter(([name, { isFile }]) => name.startsWith('GET') && !isFile);

let db: TestDatabase;
let world: World;
let browser: Browser | undefined;
beforeAll(async () => {
  db = await cloneDatabase();
  world = await aWorld(await startConsole(db.orm));
});
afterAll(async () => {
  await browser?.close();
  await world.site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** A window of somebody who is signed in, and what goes wrong in it. */
async function aWindow(who: Who): Promise<{ context: BrowserContext; page: Page; faults: string[] }> {
  browser ??= await openBrowser();
  const { site, browsers } = world;
  const context = await browser.newContext({ baseURL: site.url, locale: 'es-UY' });
  const cookies = [...browsers[who].cookies].map(([name, value]) => ({ name, value, url: site.url }));
  await context.addCookies(cookies);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${site.url}/`) && !request.url().startsWith('data:'))
      faults.push(request.url());
  });
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    if (why !== 'net::ERR_ABORTED') faults.push(`${request.url()} ${why}`);
  });
  return { context, page, faults };
}

/** What axe-core finds (of the dark theme, by its colours), whether the page is too wide, and whether stored script ran. */
async function faultsOf(page: Page, colorScheme: 'light' | 'dark'): Promise<unknown[]> {
  const over = await tooWide(page);
  const hacked = await page.evaluate('window.hacked ?? null');
  return [
    ...(await axeFaults(page, colorScheme === 'light' ? 'all' : 'colours')),
    ...(over > 0 ? [`${over} px too wide`] : []),
    ...(hacked === null ? [] : ['stored script ran']),
  ];
}

/** Two of the four: the other two are for who else sees the page. */
const LOOKS = {
  'operator ADMIN': [
    ['light', DESK],
    ['dark', TELEPHONE],
  ],
  'member OWNER': [
    ['dark', DESK],
    ['light', TELEPHONE],
  ],
} as const;

testWithBrowser.each(Object.keys(LOOKS) as (keyof typeof LOOKS)[])(
  'to %s every page is for everybody’s eyes, in its themes and widths, without an error or a blocked request',
  async (who) => {
    const { context, page, faults } = await aWindow(who);
    const found: unknown[] = [];
    for (const [name, row] of SHOWN) {
      const mine = who === 'operator ADMIN' ? row.may.operators : row.may.members;
      if (mine === null) continue;
      const { path } = await row.sample(world.ours, world);
      await page.setViewportSize(DESK);
      await page.goto(path);
      const both = row.may.operators === null || row.may.members === null;
      for (const [colorScheme, viewport] of both ? Object.values(LOOKS).flat() : LOOKS[who]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        const seen = await faultsOf(page, colorScheme);
        if (seen.length > 0) found.push([name, colorScheme, viewport.width, ...seen]);
      }
      if (faults.length > 0) found.push([name, ...faults.splice(0)]);
    }
    await context.close();
    expect(found).toEqual([]);
  },
);

/** What is found at a page that is open already, in every theme and width. */
async function inAllLooks(page: Page, name: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const [colorScheme, viewport] of Object.values(LOOKS).flat()) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const seen = await faultsOf(page, colorScheme);
    if (seen.length > 0) found.push([name, colorScheme, viewport.width, ...seen]);
  }
  return found;
}

/** Sends a form as a page of this session would. */
async function sendForm(page: Page, { path, fields }: Sample): Promise<void> {
  await page.goto('/help');
  const pairs = Object.entries(fields ?? {}).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, String(value)]),
  );
  await page.evaluate(`{
    const [path, pairs] = ${JSON.stringify([path, pairs])};
    const form = Object.assign(document.createElement('form'), { method: 'post', action: path });
    pairs.push(['form_token', document.querySelector('[name=form_token]').value]);
    for (const [name, value] of pairs)
      form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
    document.body.append(form);
    form.submit();
  }`);
}

testWithBrowser('so is what is shown once, in the answer to the form that made it', async () => {
  const rows = Object.entries(CONSOLE_PAGES).filter(
    // A second factor's wants the password: below.
    ([name, { answer }]) => name.startsWith('POST') && answer === 200 && !name.includes('second-factor'),
  );
  expect(rows.map(([name]) => name)).toEqual(
    expect.arrayContaining(['POST /keys', 'POST /members', 'POST /webhooks', 'POST /webhooks/{id}/secret']),
  );
  const found: unknown[] = [];
  for (const who of ['operator ADMIN', 'member OWNER'] as const) {
    const { context, page, faults } = await aWindow(who);
    for (const [name, row] of rows) {
      if ((row.may.members === null) !== (who === 'operator ADMIN')) continue;
      await sendForm(page, await row.sample(world.ours, world));
      await page.locator('.once').waitFor();
      found.push(...(await inAllLooks(page, name)), ...faults.splice(0));
    }
    await context.close();
  }
  expect(found).toEqual([]);
});

testWithBrowser('so is an invitation into an account, to whoever opens it', async () => {
  const { site, ours, people } = world;
  const found: unknown[] = [];
  for (const [who, email, part] of [
    ['nobody', 'recien.llegada@example.com', 'input[name=password]'],
    ['nobody', people.guest.email, 'a[href^="/sign-in"]'],
    ['guest', people.guest.email, 'form[action^="/join/"]'],
    ['stranger', people.guest.email, '#main .narrow p'],
  ] as const) {
    const { token } = await inviteMember(site.deps, {
      accountId: ours.accountId,
      email,
      role: 'VIEWER',
    });
    const { context, page, faults } = await aWindow(who);
    await page.goto(`/join/${token}`);
    await page.locator(part).first().waitFor();
    found.push(...(await inAllLooks(page, `join ${who}`)), ...faults);
    await context.close();
  }
  expect(found).toEqual([]);
});

testWithBrowser(
  'so is the way in: signing in, an invitation, a second factor, and what is not there',
  async () => {
    const { site, people } = world;
    const found: unknown[] = [];
    const outside = await aWindow('nobody');
    const lookAt = async (name: string, part: string) => {
      await outside.page.locator(part).first().waitFor();
      found.push(...(await inAllLooks(outside.page, name)), ...outside.faults.splice(0));
    };
    const signIn = async (password: string) => {
      await outside.page.locator('input[name=email]').fill(people['operator ADMIN'].email);
      await outside.page.locator('input[name=password]').fill(password);
      await outside.page.keyboard.press('Enter');
    };
    await outside.page.goto('/');
    await lookAt('sign-in', 'input[name=email]');
    await signIn('not this one, surely');
    await lookAt('sign-in, refused', '[role=alert]');
    await signIn(PASSWORD);
    await outside.page.waitForURL(/sign-in\/code/);
    await lookAt('sign-in/code', 'input[name=code]');
    const { invitation } = await inviteUser(site.deps, await site.anOperator('SUPPORT'));
    await outside.page.goto(`/invitation/${invitation.token}`);
    await lookAt('invitation', 'input[name=password]');
    await outside.context.close();

    const inside = await aWindow('member OWNER');
    await inside.page.goto('/me/second-factor');
    await inside.page.locator('input[name=password]').fill(PASSWORD);
    await inside.page.keyboard.press('Enter');
    await inside.page.locator('.once code').waitFor();
    found.push(...(await inAllLooks(inside.page, 'second-factor')), ...inside.faults.splice(0));
    await inside.page.goto('/nothing-is-here');
    found.push(...(await inAllLooks(inside.page, 'not-found')), ...inside.faults);
    await inside.context.close();
    // Chromium tells the status of every answer that is an error, also of one that is meant.
    expect(found.filter((one) => !/status of (403|404)/.test(String(one)))).toEqual([]);
  },
);
