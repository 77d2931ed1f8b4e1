import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import * as z from 'zod';
import { createUser } from '../../../src/commands/people/users.ts';
import { findAccessAt } from '../../../src/console/access/access.ts';
import { mayUse } from '../../../src/console/access/permissions.ts';
import { ValueList } from '../../../src/console/fields.ts';
import { LIST_QUERY } from '../../../src/console/filters.ts';
import { figures, showList } from '../../../src/console/lists.ts';
import { redirect, show, signedIn } from '../../../src/console/page.ts';
import { PAGES } from '../../../src/console/pages/index.ts';
import { EnterpriseGrant } from '../../../src/db/entities/enterprises.ts';
import { AuditEntry } from '../../../src/db/entities/operations.ts';
import { listOf } from '../../../src/lists/list.ts';
import { html } from '../../../src/page/html.ts';
import { TEXTS } from '../../../src/words/console.ts';
import { anAccount } from '../../support/commandDeps.ts';
import {
  type Browser,
  formTokenIn,
  pageAt,
  startConsole,
  type TestConsole,
} from '../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { anEnterprise } from '../../support/enterprises/enterprises.ts';

/** Rows of a list that grows and shrinks, in order. */
let rows: { id: number; name: string }[] = [];
let reads: number[] = [];
let failing = false;
let ticked: string[] = [];

const Query = z.object({ ...LIST_QUERY, name: z.string().optional(), kind: z.string().optional() });
const THINGS = listOf<(typeof rows)[number], string>()({
  name: 'things',
  filters: {},
  columns: { id: 'id', name: 'name' },
  key: { parts: ['number'], of: ({ id }) => [String(id)] },
  async read(_, part, { after, limit }) {
    reads.push(limit);
    if (failing && after) throw new Error('the database went away');
    return rows.filter(({ id, name }) => id > Number(after?.[0] ?? 0) && name.includes(part)).slice(0, limit);
  },
});
const listPage = pageAt('/things', {
  name: 'things',
  route: 'GET /help',
  query: Query,
  async handle({ query, visit }, deps) {
    return showList(visit, deps, THINGS, {
      title: 'Things',
      path: '/things',
      query,
      search: query.name ?? '',
      filters: [
        { name: 'name', label: 'Name' },
        {
          name: 'kind',
          label: 'Kind',
          options: [
            ['even', 'Even'],
            ['odd', 'Odd'],
          ],
        },
      ],
      headings: { id: figures('Id'), name: 'Name' },
      href: ({ id }) => `/things/${id}`,
      ticks: {
        name: 'thing',
        value: ({ id }) => String(id),
        action: '/things',
        content: html`<button>go</button>`,
      },
      empty: 'Nothing is here.',
      emptyAtFirst: 'Things come from elsewhere.',
    });
  },
});
const sendThings = pageAt('/things', {
  name: 'things',
  route: 'POST /me/sessions',
  form: z.object({ thing: ValueList }),
  async handle({ form }) {
    ticked = form.thing;
    return redirect('/things');
  },
});
const enterprisePage = pageAt('/one/{rut}', {
  name: 'one',
  route: 'GET /enterprises/{rut}',
  async handle({ params, visit }, { orm }) {
    const standing = await findAccessAt(orm, signedIn(visit).viewer, params.rut);
    const routes = ['GET /enterprises/{rut}', 'POST /webhooks', 'POST /enterprises/{rut}/data'] as const;
    const may = routes.map((route) => mayUse(standing, route));
    return show('one', html`<b>${standing?.role}/${may.map(String).join()}</b>`);
  },
});

let db: TestDatabase;
let site: TestConsole;
let account: string;
let browser: Browser;
let operator: Browser;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm, { pages: [...PAGES, listPage, sendThings, enterprisePage] });
  account = await anAccount(db.orm);
  browser = await site.as(await site.aMember(account, 'VIEWER'));
  operator = await site.as(await site.anOperator('SUPPORT'));
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});
beforeEach(() => {
  rows = Array.from({ length: 120 }, (_, i) => ({ id: i + 1, name: `name ${i + 1}` }));
  reads = [];
  failing = false;
});

const idsIn = (text: string) => [...text.matchAll(/href="\/things\/(\d+)"/g)].map(([, id]) => Number(id));
const linkIn = (text: string, pattern: RegExp) =>
  pattern.exec(text)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#39;', "'");
const nextIn = (text: string) => linkIn(text, /href="([^"]+)" rel="next"/);

test('page by page by keyset: what is added or removed meanwhile repeats and hides nothing', async () => {
  const first = (await browser.get('/things?name=name')).text;
  expect(idsIn(first)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  rows = rows.filter(({ id }) => id > 10);
  const second = (await browser.get(nextIn(first) ?? '')).text;
  expect(idsIn(second)).toEqual(Array.from({ length: 50 }, (_, i) => i + 51));
  const third = (await browser.get(nextIn(second) ?? '')).text;
  expect(idsIn(third)).toEqual(Array.from({ length: 20 }, (_, i) => i + 101));
  expect(nextIn(third)).toBeUndefined();
  expect(third).toContain('href="/things?name=name"');
  expect(reads).toEqual([51, 51, 51]);
});

test('filters stand in the address, empty ones say nothing, and a cursor that is none is refused', async () => {
  expect(idsIn((await browser.get('/things?name=name+12&kind=')).text)).toEqual([12, 120]);
  const none = await browser.get('/things?name=nobody&kind=even');
  expect(none.text).toContain('Nothing is here.');
  expect(none.text).toMatch(/<option value="even" selected>/);
  expect((await browser.get('/things?after=abc')).status).toBe(400);
});

test.each([
  ['/stuck?rut=219999830018', 'RUT', 'el último verificador'],
  ['/stuck?since=ayer&rut=21.99', 'RUT', 'el último verificador'],
  ['/reports?to=2026-02-30', 'Hasta', '2026-11-22'],
  ['/exports?month=marzo', 'Mes', '2026-11'],
  ['/deliveries?webhook=abc&format=csv', 'Webhook', 'el id completo'],
  ['/audit?since=yesterday', 'Desde el día', '2026-11-22'],
  ['/enterprises?status=DONE', 'Estado', ''],
])(
  '%s, with a value that cannot be, shows its filters, names the one and its rule, and no row',
  async (path, field, rule) => {
    const shown = await operator.get(path, { 'accept-language': 'es' });
    expect(shown.status).toBe(400);
    expect(shown.text).toContain(`«${field}» no es válido.`);
    expect(shown.text).toContain(rule);
    expect(shown.text).toContain(' aria-invalid="true"');
    expect(shown.text).not.toContain('<table');
    expect(shown.text).not.toContain('class="csv"');
  },
);

test('what was typed stays in the field that cannot have it, and in the others', async () => {
  const { text } = await operator.get('/stuck?rut=21.9999-9&environment=sandbox');
  expect(text).toContain('value="21.9999-9"');
  expect(text).toMatch(/<option value="sandbox" selected>/);
});

test('what leads to acts on all that matches is not drawn for what was not understood', async () => {
  expect((await operator.get('/runs/new?kind=retry&rut=219999830018')).status).toBe(400);
  expect((await operator.get('/stuck?rut=219999830018')).text).not.toContain('/runs/new');
});

test('a RUT is found as it is printed, with points, a hyphen or spaces', async () => {
  for (const rut of ['21.900.009.001-1', ' 219000090011 '])
    expect((await operator.get(`/reports?rut=${encodeURIComponent(rut)}`)).status).toBe(200);
});

test('operators find an account by its name; where it names several they choose', async () => {
  const [one, other] = [
    await anAccount(db.orm, { name: 'Panadería del Puerto' }),
    await anAccount(db.orm, { name: 'Panadería Central' }),
  ];
  for (const path of ['/webhooks', '/audit']) {
    const found = await operator.get(`${path}?account=del+puerto`);
    expect([found.status, found.headers.get('location')]).toEqual([303, `${path}?account=${one}`]);
    expect((await operator.get(`${path}?account=${other}`)).status).toBe(200);
  }
  const several = await operator.get('/audit?account=panader%C3%ADa');
  expect(several.headers.get('location')).toBe('/accounts?text=panader%C3%ADa');
  const { text } = await operator.get('/accounts?text=panader%C3%ADa');
  expect(text).toContain('corresponde a varias cuentas, o a ninguna');
});

test('what has no row at all says how there comes to be one; what only does not match says that', async () => {
  rows = [];
  const first = (await browser.get('/things')).text;
  expect(first).toContain('Things come from elsewhere.');
  expect(first).not.toContain('Nothing is here.');
  const narrowed = (await browser.get('/things?name=nobody')).text;
  expect(narrowed).toContain('Nothing is here.');
  expect(narrowed).not.toContain('Things come from elsewhere.');
});

test('the box of a row is called by what the row shows first', async () => {
  rows = [{ id: 7, name: 'name 7' }];
  expect((await browser.get('/things')).text).toMatch(/<input type="checkbox" [^>]*aria-label="Marcar 7">/);
});

test('as CSV: every row that matches, read page by page', async () => {
  rows = Array.from({ length: 1_200 }, (_, i) => ({ id: i + 1, name: `=name ${i + 1}` }));
  const page = (await browser.get('/things?name=name')).text;
  const { status, text, headers } = await browser.get(linkIn(page, /class="csv" href="([^"]+)"/) ?? '');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(headers.get('content-disposition')).toBe('attachment; filename="things.csv"');
  const lines = text.split('\r\n');
  expect(lines.slice(0, 3)).toEqual(['id,name', `1,'=name 1`, `2,'=name 2`]);
  expect(lines.slice(-2)).toEqual([`1200,'=name 1200`, '']);
  expect(lines).toHaveLength(1_202);
  expect(reads.slice(1)).toEqual([500, 500, 500]);
});

test('a CSV that breaks off is no whole file', async () => {
  rows = Array.from({ length: 1_200 }, (_, i) => ({ id: i + 1, name: 'x' }));
  failing = true;
  await expect(browser.get('/things?format=csv')).rejects.toThrow();
});

test('ticked rows are sent as a list: none, one and many', async () => {
  const form_token = formTokenIn((await browser.get('/things')).text);
  const send = (body: string) =>
    fetch(`${site.url}/things`, {
      method: 'POST',
      redirect: 'manual',
      body: `form_token=${encodeURIComponent(form_token)}${body}`,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });
  for (const [body, values] of [
    ['', []],
    ['&thing=7', ['7']],
    ['&thing=7&thing=8', ['7', '8']],
  ] as const) {
    expect((await send(body)).status).toBe(303);
    expect(ticked).toEqual(values);
  }
});

test('saved filters: one’s own, by list; saving again replaces, and what is forgotten is gone', async () => {
  const save = (name: string, to: string) => browser.send('/saved-filters', { name, to });
  expect((await save('<b>mine', '/things?name=name+12&after=abc&format=csv')).to).toContain('/things');
  const [, href] =
    /<span class="one"><a href="([^"]+)">&lt;b&gt;mine/.exec((await browser.get('/things')).text) ?? [];
  expect(href).toBe('/things?name=name+12');
  await save('<b>mine', '/things?name=name+11');
  const again = (await browser.get('/things?name=name+11')).text;
  expect(again.match(/class="one"/g)).toHaveLength(1);
  expect(again).toContain('aria-current="true"');

  const colleague = await site.as(await site.aMember(account, 'OWNER'));
  expect((await colleague.get('/things')).text).not.toContain('class="one"');
  const [, id = ''] = /saved-filters\/([\w-]+)\/delete/.exec(again) ?? [];
  const path = `/saved-filters/${id}/delete`;
  await colleague.send(path, { to: '/things' });
  expect((await browser.get('/things')).text).toContain('class="one"');
  expect((await browser.send(path, { to: '/things' })).to).toBe('/things');
  expect((await browser.get('/things')).text).not.toContain('class="one"');
  const acts = await db.orm.em
    .fork()
    .find(AuditEntry, { action: { $like: 'filter.%' } }, { orderBy: { id: 'asc' } });
  expect(acts.map(({ action }) => action)).toEqual(['filter.save', 'filter.save', 'filter.delete']);
});

test('of two saved at the same time no more than there may be', async () => {
  const send = (i: number) => browser.send('/saved-filters', { name: `f${i}`, to: `/things?name=${i}` });
  for (let i = 0; i < 28; i += 1) await send(i);
  await Promise.all([send(28), send(29), send(30), send(31)]);
  expect((await browser.get('/things')).text.match(/class="one"/g)).toHaveLength(30);
});

test('the lesser of what somebody is in an account, and what that account is at the enterprise', async () => {
  const owner = await anAccount(db.orm);
  const rut = await anEnterprise(db.orm, owner);
  const granted = await anAccount(db.orm);
  await db.orm.em.fork().insert(EnterpriseGrant, { accountId: granted, rut, role: 'MEMBER' });
  const seen = async (accountId: string, role: 'VIEWER' | 'MEMBER' | 'OWNER') =>
    />([^<]*)<\/b>/.exec(
      (await (await site.as(await site.aMember(accountId, role))).get(`/one/${rut}`)).text,
    )?.[1];
  expect(await seen(owner, 'OWNER')).toBe('OWNER/true,true,true');
  expect(await seen(owner, 'VIEWER')).toBe('VIEWER/true,false,false');
  expect(await seen(granted, 'OWNER')).toBe('MEMBER/true,true,false');
  expect(await seen(account, 'OWNER')).toBe('/false,false,false');

  const both = await site.aMember(account, 'OWNER');
  await createUser(site.deps, { email: both.email, accountId: granted, role: 'VIEWER' });
  expect(/>([^<]*)<\/b>/.exec((await (await site.as(both)).get(`/one/${rut}`)).text)?.[1]).toBe(
    'VIEWER/true,false,false',
  );
  const operator = await site.as(await site.anOperator('VIEWER'));
  expect(/>([^<]*)<\/b>/.exec((await operator.get(`/one/${rut}`)).text)?.[1]).toBe('VIEWER/true,false,false');
});

test('the frame has the search field and the keys, for who is signed in', async () => {
  const { text } = await browser.get('/help');
  expect(text).toMatch(/action="\/search"><input type="search" name="q"/);
  // On the page, and in the dialog.
  expect(text.match(/<kbd>/g)).toHaveLength(2 * Object.keys(TEXTS.en.lists.keys).length);
  expect((await site.aBrowser().get('/sign-in')).text).not.toContain('action="/search"');
});
