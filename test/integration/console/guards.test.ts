import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { saveFilter } from '../../../src/commands/people/filters.ts';
import { show } from '../../../src/console/page.ts';
import { PAGES } from '../../../src/console/pages/index.ts';
import { Person } from '../../../src/db/entities/people.ts';
import { FORM_LIMIT } from '../../../src/domain/people/rateLimits.ts';
import { html } from '../../../src/page/html.ts';
import { sendRaw } from '../../support/api/http.ts';
import { anAccount } from '../../support/commandDeps.ts';
import {
  type Browser,
  formTokenIn,
  pageAt,
  type Shown,
  startConsole,
  type TestConsole,
  type TestPerson,
} from '../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { until } from '../../support/until.ts';

/** A page that is in progress until the test lets it go. */
const underWay = { now: 0, most: 0, go: Promise.withResolvers<void>() };
const slow = async () => {
  underWay.now += 1;
  underWay.most = Math.max(underWay.most, underWay.now);
  await underWay.go.promise;
  underWay.now -= 1;
  return show('Slow', html`<p>slow</p>`);
};
const slowPage = pageAt('/slow', { name: 'slow', route: 'GET /help', handle: slow });

/** A file that begins to come, and does not end. */
let begunFiles = 0;
const endlessPage = pageAt('/endless', {
  name: 'endless',
  route: 'GET /help',
  async handle() {
    const content = new Readable({ read: () => undefined });
    content.push('a');
    const onBegin = async () => void (begunFiles += 1);
    return { kind: 'file', name: 'a.csv', type: 'text/csv', content, onBegin };
  },
});

/** The same as forms: one of them needs no place among those of all members. */
const slowForm = pageAt('/slow', { name: 'slow-form', route: 'POST /me/sessions', handle: slow });
const waitingForm = { ...slowForm, name: 'waiting-form', path: '/waiting', isSlow: true };

let db: TestDatabase;
let site: TestConsole;
let account: string;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm, { pages: [...PAGES, slowPage, slowForm, waitingForm, endlessPage] });
  account = await anAccount(db.orm);
});
afterAll(async () => {
  underWay.go.resolve();
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const idOf = async ({ email }: TestPerson): Promise<string> =>
  (await db.orm.em.fork().findOneOrFail(Person, { email })).id;

/** How many of these requests are in progress at most, while `meanwhile` is done. */
async function together(
  requests: readonly Promise<Shown>[],
  { expected, meanwhile }: { expected: number; meanwhile: () => Promise<unknown> },
): Promise<void> {
  await until('the requests are in progress', 10, async () => underWay.now >= expected);
  await meanwhile();
  expect(underWay.most).toBe(expected);
  underWay.go.resolve();
  const answers = await Promise.all(requests);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  Object.assign(underWay, { now: 0, most: 0, go: Promise.withResolvers<void>() });
}

describe('places', () => {
  test('a person has four pages in progress, whatever their sessions; a colleague is served meanwhile', async () => {
    const person = await site.aMember(account, 'VIEWER');
    const browsers = [await site.as(person), await site.as(person)];
    const colleague = await site.as(await site.aMember(account, 'VIEWER'));
    const requests = Array.from({ length: 30 }, (_, i) => (browsers[i % 2] as Browser).get('/slow'));
    await together(requests, {
      expected: 4,
      meanwhile: async () => expect((await colleague.get('/me')).status).toBe(200),
    });
  });

  test('an account has six, and all members together ten; an operator is served all the same', async () => {
    const operator = await site.as(await site.anOperator('VIEWER'));
    const crowd: Browser[] = [];
    for (const accountId of [account, await anAccount(db.orm)])
      for (let i = 0; i < 2; i += 1) crowd.push(await site.as(await site.aMember(accountId, 'VIEWER')));
    const [first, second, ...others] = crowd as [Browser, Browser, Browser, Browser];
    const flood = (browsers: readonly Browser[]) =>
      Array.from({ length: 16 }, (_, i) => (browsers[i % browsers.length] as Browser).get('/slow'));
    await together(flood([first, second]), { expected: 6, meanwhile: async () => undefined });
    await together([...flood([first, second]), ...flood(others)], {
      expected: 10,
      async meanwhile() {
        expect((await operator.get('/')).status).toBe(200);
        expect((await operator.get('/accounts')).status).toBe(200);
      },
    });
  });
});

describe('places of forms', () => {
  const sendSlow = async (browser: Browser, path: string, times: number) => {
    const form_token = formTokenIn((await browser.get('/me')).text);
    return Array.from({ length: times }, () => browser.post(path, { form_token }));
  };

  test('are beside those of pages: who waits for four of them opens pages', async () => {
    const operator = await site.as(await site.anOperator('VIEWER'));
    await together(await sendSlow(operator, '/slow', 6), {
      expected: 4,
      meanwhile: async () => expect((await operator.get('/')).status).toBe(200),
    });
  });

  test('of what waits without the database are the account’s, and none of those of all members', async () => {
    const browsers: Browser[] = [];
    for (const accountId of [account, await anAccount(db.orm), await anAccount(db.orm)])
      for (let i = 0; i < 2; i += 1) browsers.push(await site.as(await site.aMember(accountId, 'VIEWER')));
    const other = await site.as(await site.aMember(await anAccount(db.orm), 'VIEWER'));
    const requests = [];
    for (const browser of browsers) requests.push(...(await sendSlow(browser, '/waiting', 4)));
    await together(requests, {
      expected: 18,
      meanwhile: async () => expect((await other.get('/me')).status).toBe(200),
    });
  });

  test('one who belongs to two accounts carries the wait of neither to the other', async () => {
    const [one, two] = [await anAccount(db.orm), await anAccount(db.orm)];
    const crowd: Browser[] = [];
    for (let i = 0; i < 2; i += 1) crowd.push(await site.as(await site.aMember(one, 'VIEWER')));
    const both = await site.aMember(one, 'VIEWER');
    await db.orm.em.fork().execute(
      `insert into membership select (jsonb_populate_record(m, jsonb_build_object('account_id', ?::text))).*
         from membership m where person_id = ?`,
      [two, await idOf(both)],
    );
    const bridge = await site.as(both);
    const requests = crowd.flatMap((browser) => Array.from({ length: 4 }, () => browser.get('/slow')));
    await until('the account has its six', 10, async () => underWay.now === 6);
    for (let i = 0; i < 4; i += 1) requests.push(bridge.get('/slow'));
    // Held by the first account, they would hold the places of the second.
    await together(requests, { expected: 10, meanwhile: async () => undefined });
  });
});

describe('forms', () => {
  test('are counted by person and hour over all sessions; leaving is not, and others notice nothing', async () => {
    const person = await site.aMember(account, 'VIEWER');
    const [one, other] = [await site.as(person), await site.as(person)];
    await db.orm.em
      .fork()
      .execute('insert into form_count (person_id, since, forms) values (?, ?, ?)', [
        await idOf(person),
        site.deps.clock(),
        FORM_LIMIT.most - 1,
      ]);
    const filter = { to: '/cfes?rut=219999830019', name: 'Mío' };
    expect((await one.send('/saved-filters', filter)).status).toBe(303);

    const refused = await other.send('/saved-filters', { ...filter, name: 'Otro' });
    expect([refused.status, refused.text.includes('hasta 600 formularios')]).toEqual([429, true]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
    const words = await other.post(
      '/saved-filters',
      { form_token: formTokenIn((await other.get('/me')).text), ...filter },
      { 'accept-language': 'en' },
    );
    expect(words.text).toContain('up to 600 forms');
    const rows = await db.orm.em
      .fork()
      .execute(`select 1 from audit where action = 'filter.save' and actor = ?`, [`console:${person.email}`]);
    expect(rows).toHaveLength(1);
    const colleague = await site.as(await site.aMember(account, 'VIEWER'));
    expect((await colleague.send('/saved-filters', filter)).status).toBe(303);
    expect((await other.get('/me')).status).toBe(200);
    expect((await other.send('/sign-out', {})).to).toBe('/sign-in');
  });

  test('with a file are not read for who is not signed in, nor without the token of the browser', async () => {
    const boundary = 'x'.repeat(20);
    const part = `--${boundary}\r\nContent-Disposition: form-data; name="p"\r\n\r\n\r\n`;
    const body = `${part.repeat(1_500)}--${boundary}--\r\n`;
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    const path = `${site.url}/enterprises/219999830019/logo`;
    const parsing = jest.spyOn(Response.prototype, 'formData');
    try {
      const stranger = await sendRaw(path, { method: 'POST', headers, chunks: [body] });
      const owner = await site.as(await site.aMember(account, 'OWNER'));
      const cookie = `cfe_session=${owner.cookies.get('cfe_session')}`;
      const without = await sendRaw(path, {
        method: 'POST',
        headers: { ...headers, cookie },
        chunks: [body],
      });
      expect([stranger.status, without.status]).toEqual([303, 403]);

      const form_token = formTokenIn((await owner.get('/me')).text);
      const token = `--${boundary}\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n${form_token}\r\n`;
      const withToken = { method: 'POST', headers: { ...headers, cookie }, chunks: [token + body] };
      // Far more parts than any form has: refused unread too.
      expect((await sendRaw(path, withToken)).status).toBe(400);
      expect(parsing).not.toHaveBeenCalled();
    } finally {
      parsing.mockRestore();
    }
  });

  test('with more fields than any has are refused unparsed, of strangers too', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = async (path: string, fields: number) => {
      const init = { method: 'POST', headers, chunks: [Array(fields).fill('a').join('&')] };
      return (await sendRaw(site.url + path, init)).status;
    };
    // Without a token of its own such a form is refused as stale, once it is parsed.
    expect([await send('/sign-in', 500), await send('/sign-in', 501)]).toEqual([403, 400]);
  });

  test.each<[string, (boundary: string) => string]>([
    [
      'parts with headers in small letters',
      (to) => `--${to}\r\ncontent-disposition: form-data; name="p"\r\n\r\n\r\n`.repeat(30),
    ],
    [
      'a part with many headers',
      (to) => `--${to}\r\nContent-Disposition: form-data; name="p"\r\n${'a:\r\n'.repeat(20_000)}\r\n\r\n`,
    ],
  ])('with a file are not parsed with %s', async (_, partsWith) => {
    const boundary = 'x'.repeat(20);
    const owner = await site.as(await site.aMember(account, 'OWNER'));
    const form_token = formTokenIn((await owner.get('/me')).text);
    const headers = {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      cookie: `cfe_session=${owner.cookies.get('cfe_session')}`,
    };
    const token = `--${boundary}\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n${form_token}\r\n`;
    const chunks = [`${token}${partsWith(boundary)}--${boundary}--\r\n`];
    const parsing = jest.spyOn(Response.prototype, 'formData');
    try {
      const path = `${site.url}/enterprises/219999830019/logo`;
      expect((await sendRaw(path, { method: 'POST', headers, chunks })).status).toBe(400);
      expect(parsing).not.toHaveBeenCalled();
    } finally {
      parsing.mockRestore();
    }
  });

  test('that are too large by their own word are refused before they come', async () => {
    const owner = await site.as(await site.aMember(account, 'OWNER'));
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(70 * 1024),
      cookie: `cfe_session=${owner.cookies.get('cfe_session')}`,
    };
    const { status } = await sendRaw(`${site.url}/me/password`, { method: 'POST', headers, chunks: ['a'] });
    expect(status).toBe(413);
  });

  test('200 filters are kept of one person, whatever the lists', async () => {
    const person = await site.aMember(account, 'VIEWER');
    const personId = await idOf(person);
    const save = (n: number) =>
      saveFilter(site.deps, { personId, path: `/p${n % 20}`, name: `f${n}`, query: 'a=1' });
    for (let n = 0; n < 200; n += 1) await save(n);
    const tooMany = { code: 'INVALID_INPUT', faults: [{ code: 'filter.too_many' }] };
    await expect(save(200)).rejects.toMatchObject(tooMany);
    await expect(save(5)).resolves.toBeUndefined();
  });
});

test('a person has five streams of changes, and another after one has ended', async () => {
  const person = await site.aMember(account, 'VIEWER');
  const cookie = `cfe_session=${(await site.as(person)).cookies.get('cfe_session')}`;
  const open = async () => {
    const aborter = new AbortController();
    const { signal } = aborter;
    const { status } = await fetch(`${site.url}/changes?of=cfes`, { headers: { cookie }, signal });
    return { status, close: () => aborter.abort() };
  };
  const streams = [];
  for (let i = 0; i < 7; i += 1) streams.push(await open());
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 204, 204]);

  streams[0]?.close();
  await until('a stream may be opened again', 10, async () => {
    const one = await open();
    streams.push(one);
    return one.status === 200;
  });
  for (const { close } of streams) close();
});

test('a person fetches two files at a time that are read from the database', async () => {
  const person = await site.aMember(account, 'VIEWER');
  const browser = await site.as(person);
  const cookie = `cfe_session=${browser.cookies.get('cfe_session')}`;
  const gone = new AbortController();
  const answers = await Promise.all(
    [1, 2, 3].map(() => fetch(`${site.url}/endless`, { headers: { cookie }, signal: gone.signal })),
  );
  expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '200', '429']);
  // What is written down of a file that goes out is not of one that is refused.
  expect(begunFiles).toBe(2);
  gone.abort();
});
