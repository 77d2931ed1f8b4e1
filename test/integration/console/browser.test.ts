import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core';
import { inviteUser } from '../../../src/commands/people/users.ts';
import { show } from '../../../src/console/page.ts';
import { PAGES } from '../../../src/console/pages/index.ts';
import { totpCode } from '../../../src/crypto/totp.ts';
import { ApiKey } from '../../../src/db/entities/people.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { SESSION } from '../../../src/domain/people/people.ts';
import { html } from '../../../src/page/html.ts';
import { openBrowser, testWithBrowser, tooWide } from '../../support/console/browser.ts';
import {
  PASSWORD,
  pageAt,
  startConsole,
  type TestConsole,
  type TestPerson,
} from '../../support/console/console.ts';
import { aTroubledAccount, closeReception, type Troubled } from '../../support/console/consoleRows.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { until } from '../../support/until.ts';

/** Where to leave a picture of every page, for who wants to look at them. */
const PICTURES = process.env['CONSOLE_PICTURES'];
const TELEPHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 800 };

/** What the next drawing of the page below holds. */
let drawing = 1;
/** A page with everything that a person can leave in the middle of: its rows come and go. */
const formPage = pageAt('/form', {
  name: 'form',
  route: 'GET /help',
  async handle() {
    const rows = drawing === 1 ? ['a', 'b', 'c'] : ['new', 'a', 'b', 'c'];
    const body = html`<p id="drawing">${drawing}</p><form><table><tbody>${rows.map(
      (id) =>
        html`<tr id="row-${id}"><td><label><input type="checkbox" name="${id}" id="tick-${id}"> ${id}</label></td></tr>`,
    )}</tbody></table>
<label>text <input id="text" value="before"></label> <label>long <textarea id="long">before</textarea></label>
<label>one <select id="one"><option>1</option><option>2</option></select></label>
<details id="more"><summary>more</summary><p>${drawing}</p></details></form>`;
    return show('form', body, { live: ['cfes'] });
  },
});

let db: TestDatabase;
let site: TestConsole;
let browser: Browser | undefined;
let own: Troubled;
let other: Troubled;
let member: TestPerson;
let operator: TestPerson;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm, { pages: [...PAGES, formPage] });
  own = await aTroubledAccount(db.orm, { name: 'Panadería La Espiga', stuck: 'authority.certificate' });
  other = await aTroubledAccount(db.orm, { name: 'Ferretería Ajena', stuck: 'undecided' });
  await closeReception(db.orm);
  member = await site.aMember(own.accountId, 'OWNER');
  operator = await site.anOperator('ADMIN');
});
afterAll(async () => {
  await browser?.close();
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

interface Tab {
  page: Page;
  /** What went wrong so far: errors of the console, failed requests, requests to another host. */
  faults: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** A browser of somebody's own, Spanish unless told. */
async function aTab(wishes: BrowserContextOptions = {}): Promise<Tab> {
  browser ??= await openBrowser();
  const context = await browser.newContext({ baseURL: site.url, locale: 'es-UY', viewport: DESK, ...wishes });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // Chromium tells the status of every answer that is an error, also of one that is meant.
    if (!/status of (403|404)/.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${site.url}/`) && !url.startsWith('data:')) faults.push(url);
  });
  page.on('requestfailed', (request) => {
    // What the page before had in progress ends with it.
    const why = request.failure()?.errorText ?? '';
    if (why !== 'net::ERR_ABORTED') faults.push(`${request.url()} ${why}`);
  });
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}

/** Signs in as a person does: types, and sends with Enter. */
async function enter(page: Page, who: TestPerson): Promise<void> {
  await page.goto('/');
  await page.locator('input[name=email]').fill(who.email);
  await page.locator('input[name=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  if (who.totp) {
    await page.locator('input[name=code]').fill(site.codeOf(who));
    await page.keyboard.press('Enter');
  }
  await page.waitForURL(`${site.url}/`);
}

/** Looks at a page in both themes, on a desk and on a telephone; what axe-core finds is everyPageInBrowser's. */
async function look(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const viewport of [DESK, TELEPHONE]) {
      await page.setViewportSize(viewport);
      const view = `${name}-${colorScheme}-${viewport.width}`;
      if (PICTURES) {
        mkdirSync(PICTURES, { recursive: true });
        await page.screenshot({ path: join(PICTURES, `${view}.png`), fullPage: true });
      }
      expect([view, await tooWide(page)]).toEqual([view, 0]);
    }
  }
  await page.setViewportSize(DESK);
}

const invitationOf = async ({ email }: TestPerson) =>
  `/invitation/${(await inviteUser(site.deps, { email })).invitation.token}`;

/** That many pages wait to be told of changes. */
const listeners = (count: number) =>
  until(`${count} listening`, 10, async () => site.deps.changes.count() === count);

/** Writes to a CFE, and has PostgreSQL count it at once. */
const changeCfe = (rut: string, values: Partial<Pick<Cfe, 'stuckReason'>>) =>
  db.orm.em.fork().transactional(async (em) => {
    await em.nativeUpdate(Cfe, { rut, sequence: 4 }, values);
    await em.execute('select pg_stat_force_next_flush()');
  });

testWithBrowser('the way in, to an operator, on a desk and on a telephone', async () => {
  await using tab = await aTab();
  const { page, faults } = tab;
  await page.goto('/');
  await look(page, 'sign-in');
  await page.locator('input[name=email]').fill(operator.email);
  await page.locator('input[name=password]').fill('not this one, surely');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await look(page, 'sign-in-refused');
  await page.locator('input[name=email]').fill(operator.email);
  await page.locator('input[name=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(/sign-in\/code/);
  await look(page, 'code');
  await page.locator('input[name=code]').fill(site.codeOf(operator));
  await page.keyboard.press('Enter');
  await page.waitForURL(`${site.url}/`);
  await look(page, 'health');
  await page.getByRole('link', { name: operator.email }).click();
  await page.waitForURL(/\/me$/);
  await look(page, 'me');
  await page.goto('/nothing-is-here');
  expect(await page.locator('main').innerText()).toContain(
    'No hay ninguna página en esta dirección, o usted no tiene acceso a ella.',
  );
  await look(page, 'not-found');
  expect(faults).toEqual([]);
});

testWithBrowser('an invitation: both its pages, and the code of the app from its key', async () => {
  await using tab = await aTab();
  const { page, faults } = tab;
  const invited = await site.anOperator('SUPPORT');
  await page.goto(await invitationOf(invited));
  await look(page, 'invitation');
  const password = page.locator('input[name=password]');
  await password.fill('corta');
  await page.locator('input[name=code]').fill('000000');
  await page.keyboard.press('Enter');
  await page.locator('.flash.failed').waitFor();
  expect(await page.locator('.flash').innerText()).toBe('Una contraseña tiene de 12 a 200 caracteres.');
  await password.fill(PASSWORD);
  const token = page.url().split('/').at(-1) ?? '';
  const secret = site.deps.totpSecrets.ofInvitation(token);
  await page.locator('input[name=code]').fill(totpCode(secret, site.deps.clock()));
  await page.keyboard.press('Enter');
  await page.waitForURL(/sign-in$/);
  await look(page, 'invitation-accepted');
  await page.goto(`/invitation/${token}`);
  await look(page, 'invitation-gone');
  expect(faults).toEqual([]);
});

testWithBrowser('a second factor: set up with the code of the app, and turned off', async () => {
  await using tab = await aTab();
  const { page, faults } = tab;
  const someone = await site.aMember(own.accountId, 'VIEWER');
  await enter(page, someone);
  await page.getByRole('link', { name: someone.email }).click();
  await page.getByRole('link', { name: 'Configurar, cambiar o desactivar' }).click();
  await page.waitForURL(/second-factor$/);
  await look(page, 'second-factor-none');
  await page.locator('input[name=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  const key = page.locator('.once code');
  await key.waitFor();
  await look(page, 'second-factor-key');
  await page.locator('input[name=code]').fill('000000');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await look(page, 'second-factor-wrong');
  const typed = await key.innerText();
  // As an app takes it over: base 32.
  const bits = Array.from(typed, (one) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'),
  ).join('');
  const totp = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  await page.locator('input[name=code]').fill(totpCode(totp, site.deps.clock()));
  await page.keyboard.press('Enter');
  await page.getByRole('status').waitFor();
  await look(page, 'second-factor-held');
  // The way back shows the key to nobody.
  await page.goBack();
  expect(await page.content()).not.toContain(typed);

  await page.goto('/me/second-factor');
  const off = page.locator('form[action="/me/second-factor/off"]');
  await off.locator('input[name=password]').fill(PASSWORD);
  await off.locator('input[name=code]').fill(site.codeOf({ ...someone, totp }));
  await page.keyboard.press('Enter');
  await page.getByRole('status').waitFor();
  expect(await page.getByRole('status').innerText()).toContain('quedó desactivada');
  expect(faults).toEqual([]);
});

testWithBrowser.each([true, false])(
  'a customer sees their own and nothing of another’s, with script %s',
  async (javaScriptEnabled) => {
    await using tab = await aTab({ javaScriptEnabled });
    const { page, faults } = tab;
    await enter(page, member);
    const text = await page.locator('main').innerText();
    for (const mine of [own.legalName, own.rut, own.url, 'authority.certificate', 'PENDING'])
      expect(text).toContain(mine);
    for (const theirs of [other.legalName, other.rut, other.url, 'undecided'])
      expect(text).not.toContain(theirs);
    // Three stuck and two on their way: not the sums of both accounts.
    expect(await page.locator('td.figure').allInnerTexts()).toEqual([
      '3',
      '3 h',
      '2',
      '3 h',
      '1',
      '',
      '3.995',
    ]);

    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    await page.getByRole('link', { name: member.email }).click();
    await page.locator('input[name=old]').fill('another one, not right');
    await page.locator('input[name=password]').fill('quite another, and long');
    await page.keyboard.press('Enter');
    await page.locator('.flash.failed').waitFor();
    expect(await page.locator('.flash').innerText()).toBe('The old password is wrong.');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL(/sign-in$/);
    expect(faults).toEqual([]);
  },
);

testWithBrowser(
  'a second click on what shows a secret takes it from nobody, and the way back shows it to nobody',
  async () => {
    await using tab = await aTab();
    const { page } = tab;
    await enter(page, member);
    await page.goto('/keys');
    const form = page.locator('form[action="/keys"]');
    await form.locator('[name=label]').fill('Dos clics');
    // Both before the first is answered, as a double click on a slow line.
    await page.evaluate(
      `const form = document.querySelector('form[action="/keys"]'); form.requestSubmit(); form.requestSubmit();`,
    );
    const secret = await page.locator('code.once').innerText();
    expect(secret).toMatch(/^cfe_/);
    const made = await db.orm.em.fork().find(ApiKey, { accountId: own.accountId, label: 'Dos clics' });
    expect(made).toHaveLength(1);

    await page.locator('a.after-once').click();
    await page.getByText('Dos clics').first().waitFor();
    for (const way of ['goBack', 'goForward', 'goBack'] as const) {
      await page[way]();
      expect(await page.content()).not.toContain(secret);
    }
    await page.reload();
    expect(await page.content()).not.toContain(secret);
    expect(await db.orm.em.fork().count(ApiKey, { accountId: own.accountId, label: 'Dos clics' })).toBe(1);
    expect(tab.faults).toEqual([]);
  },
);

testWithBrowser('what changes appears by itself; a page that nobody sees listens to nothing', async () => {
  await using tab = await aTab();
  const { page, faults } = tab;
  await enter(page, operator);
  await listeners(1);
  await page.evaluate('window.mark = 1');
  const stuck = page.locator('.panel', { hasText: 'Detenidos' });
  expect(await stuck.innerText()).not.toContain('signing');
  await changeCfe(own.rut, { stuckReason: 'signing' });
  await stuck.getByText('signing').waitFor();
  expect(await page.evaluate('window.mark')).toBe(1);

  const see = (state: string) =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
  await see('hidden');
  await listeners(0);
  await changeCfe(own.rut, { stuckReason: null });
  await see('visible');
  await stuck.getByText('signing').waitFor({ state: 'detached' });
  await listeners(1);

  // Signed out elsewhere, the page asks for it at its next change.
  await db.orm.em.fork().execute('update console_session set ended_at = now() where ended_at is null');
  await changeCfe(own.rut, { stuckReason: 'signing' });
  await page.locator('input[name=email]').waitFor();
  await listeners(0);
  await changeCfe(own.rut, { stuckReason: null });
  expect(faults).toEqual([]);
});

testWithBrowser('what somebody is in the middle of stays: ticks, focus, words, what is open', async () => {
  await using tab = await aTab();
  const { page, faults } = tab;
  await enter(page, member);
  await page.goto('/form');
  await listeners(1);
  await page.locator('#tick-b').check();
  await page.locator('#text').fill('typed');
  await page.locator('#long').fill('typed at length');
  await page.locator('#one').selectOption('2');
  await page.locator('#more summary').click();
  await page.locator('#tick-c').focus();
  drawing = 2;
  await changeCfe(own.rut, { stuckReason: null });
  await page.locator('#drawing', { hasText: '2' }).waitFor();

  expect(await page.locator('#row-new').count()).toBe(1);
  const ticks = 'input[type=checkbox]:checked';
  expect(await page.locator(ticks).evaluateAll((all) => all.map(({ id }) => id))).toEqual(['tick-b']);
  expect(await page.locator('#text').inputValue()).toBe('typed');
  expect(await page.locator('#long').inputValue()).toBe('typed at length');
  expect(await page.locator('#one').inputValue()).toBe('2');
  expect(await page.locator('#more').getAttribute('open')).not.toBeNull();
  expect(await page.locator('#more p').innerText()).toBe('2');
  expect(await page.evaluate('document.activeElement.id')).toBe('tick-c');
  expect(faults).toEqual([]);
});

testWithBrowser('what a form did stays to be read, while its page is drawn anew', async () => {
  await using there = await aTab();
  await enter(there.page, member);
  await using here = await aTab();
  const { page, faults } = here;
  await enter(page, member);
  await page.goto('/me');
  await page.getByRole('button', { name: 'Cerrar todas las demás sesiones' }).click();
  const flash = page.getByRole('status');
  await flash.waitFor();
  const [drawn] = await Promise.all([
    page.waitForResponse((response) => response.request().headers()['hx-request'] === 'true'),
    page.evaluate("htmx.trigger('#main', 'changed')"),
  ]);
  await drawn.finished();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  expect(await flash.innerText()).toBe('Las demás sesiones quedaron cerradas.');
  expect(faults).toEqual([]);
});

testWithBrowser('by keyboard alone: to the content, to one’s account, and out', async () => {
  await using tab = await aTab();
  const { page, faults } = tab;
  await page.goto('/');
  // The first field has the focus.
  await page.keyboard.type(member.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${site.url}/`);
  await page.keyboard.press('Tab');
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  expect(await focused()).toBe('Ir al contenido');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  await page.reload();
  const tabTo = async (text: string): Promise<void> => {
    for (let i = 0; i < 20 && (await focused()) !== text; i += 1) await page.keyboard.press('Tab');
    expect(await focused()).toBe(text);
    await page.keyboard.press('Enter');
  };
  await tabTo(member.email);
  await page.waitForURL(/\/me$/);
  await tabTo('Salir');
  await page.waitForURL(/sign-in$/);
  expect(faults).toEqual([]);
});

/** What becomes of each request for the stream of changes, in turn; the later ones are served. */
const changesOf = (page: Page, turns: readonly ((route: Route) => Promise<void>)[]) => {
  let turn = 0;
  return page.route('**/changes?*', (route) => {
    const handle = turns[turn];
    turn += 1;
    return handle ? handle(route) : route.continue();
  });
};
/** A stream that ends as soon as it began, as any does in time: a browser opens it again. */
const endsAtOnce = (route: Route) =>
  route.fulfill({ contentType: 'text/event-stream', body: 'retry: 10\n\n' });

testWithBrowser(
  'a page that was deaf for a while looks once when it hears again, also after a proxy’s 503',
  async () => {
    await using tab = await aTab();
    const { page } = tab;
    await enter(page, operator);
    const stuck = page.locator('.panel', { hasText: 'Detenidos' });
    const drawn = () =>
      page.waitForResponse((response) => response.request().headers()['hx-request'] === 'true');
    await changesOf(page, [
      endsAtOnce,
      async (route) => {
        await changeCfe(own.rut, { stuckReason: 'signing' });
        await route.continue();
      },
    ]);
    await page.goto('/');
    await stuck.getByText('signing').waitFor();

    await page.unrouteAll();
    await changesOf(page, [(route) => route.fulfill({ status: 503 })]);
    await page.clock.install();
    const [first] = await Promise.all([drawn(), page.goto('/')]);
    await first.finished();
    await listeners(0);
    await changeCfe(own.rut, { stuckReason: null });
    await page.clock.fastForward('00:31');
    await stuck.getByText('signing').waitFor({ state: 'detached' });
    await listeners(1);
  },
);

testWithBrowser('a page in view leads to sign in once its session has ended', async () => {
  await using tab = await aTab();
  const { page, faults } = tab;
  await enter(page, member);
  await changesOf(page, [
    endsAtOnce,
    async (route) => {
      site.pass(SESSION.idleMilliseconds + 60_000);
      await route.continue();
    },
  ]);
  await page.goto('/keys');
  await page.waitForURL(/sign-in\?to=%2Fkeys$/);
  expect(faults).toEqual([]);
});

testWithBrowser(
  'signing out ends at the sign-in page, though an update of the page comes in between',
  async () => {
    await using tab = await aTab();
    const { page, faults } = tab;
    await enter(page, member);
    await page.goto('/me');
    await page.evaluate(
      "addEventListener('submit', () => setTimeout(() => htmx.trigger('#main', 'changed'), 200))",
    );
    await page.route('**/sign-out', async (route) => {
      const update = page.waitForResponse((one) => new URL(one.url()).pathname === '/sign-in');
      const response = await route.fetch({ maxRedirects: 0 });
      await update;
      // A reload would begin now.
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Salir', exact: true }).click({ noWaitAfter: true });
    await page.waitForURL(/\/sign-in$/);
    expect(faults).toEqual([]);
  },
);

testWithBrowser('a form that was refused comes back with what was typed and ticked', async () => {
  await using tab = await aTab();
  const { page, faults } = tab;
  await enter(page, member);
  await page.goto('/webhooks');
  const form = page.locator('form[action="/webhooks"]');
  const boxes = form.locator('input[name=event]');
  await form.locator('[name=url]').fill('http://sin-cifrar.example/aviso');
  await boxes.nth(1).check();
  await form.getByRole('button').click();
  await page.locator('.flash.failed').waitFor();
  await page.waitForLoadState();
  expect(await form.locator('[name=url]').inputValue()).toBe('http://sin-cifrar.example/aviso');
  expect(
    await boxes.evaluateAll((all) => all.flatMap((one, i) => ('checked' in one && one.checked ? [i] : []))),
  ).toEqual([1]);

  await page.goto('/me');
  await page.locator('input[name=old]').fill('another one, not right');
  await page.locator('input[name=password]').fill('quite another, and long');
  await page.keyboard.press('Enter');
  await page.locator('.flash.failed').waitFor();
  await page.waitForLoadState();
  for (const name of ['old', 'password'])
    expect(await page.locator(`input[name=${name}]`).inputValue()).toBe('');
  expect(await page.evaluate("sessionStorage.getItem('sent')")).toBeNull();
  expect(faults).toEqual([]);
});
