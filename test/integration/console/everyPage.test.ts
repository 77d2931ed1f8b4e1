import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AUDIENCE_BY_ROUTE, isForAnyone } from '../../../src/console/access/permissions.ts';
import { PAGES } from '../../../src/console/pages/index.ts';
import { isRoleAtLeast, MEMBER_ROLES, OPERATOR_ROLES } from '../../../src/domain/people/people.ts';
import { type Browser, formTokenIn, type Shown, startConsole } from '../../support/console/console.ts';
import {
  CONSOLE_PAGES,
  type ConsolePage,
  PAGES_FOR_ANYONE,
  PAGES_THAT_END_A_SESSION,
  type Sample,
} from '../../support/console/consolePages.ts';
import { aWorld, EVIL, WHO, type Who, type World } from '../../support/console/consoleWorld.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { NIGHTLY } from '../../support/nightly.ts';

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  db = await cloneDatabase();
  world = await aWorld(await startConsole(db.orm));
});
afterAll(async () => {
  await world.site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
const ROWS = Object.entries(CONSOLE_PAGES);
const FORMS = ROWS.filter(([name]) => name.startsWith('POST'));
const SHOWN = ROWS.filter(([name]) => name.startsWith('GET'));

test('the table of who may do what has a row for every page and form, and so have their samples', () => {
  const served = PAGES.map(nameOf).toSorted();
  expect(PAGES.map(({ route }) => route).toSorted()).toEqual(served);
  expect(Object.keys(AUDIENCE_BY_ROUTE).toSorted()).toEqual(served);
  const known = [...Object.keys(CONSOLE_PAGES), ...PAGES_FOR_ANYONE, ...PAGES_THAT_END_A_SESSION];
  expect(known.toSorted()).toEqual(served);
  const anyone = PAGES.map(({ route }) => route).filter(isForAnyone);
  expect(anyone.toSorted()).toEqual(PAGES_FOR_ANYONE.toSorted());
});

/** What an answer came to. A form that was refused leads back, with a flash that says so. */
type Came = 'allowed' | 'refused' | 'forbidden' | 'absent' | 'to sign in' | `status ${number}`;

function cameOf(row: ConsolePage, { status, to, flash }: Shown & { flash: string | null }): Came {
  if (status === 403) return 'forbidden';
  if (status === 404) return 'absent';
  if (to?.startsWith('/sign-in')) return 'to sign in';
  if (status === 303 && flash === 'failed') return 'refused';
  return [row.answer ?? 0, 200, 303].includes(status) ? 'allowed' : `status ${status}`;
}

/** What it is to come to: decided here by the table and the roles alone. */
function expected({ may, of, mayFail }: ConsolePage, who: Who): readonly Came[] {
  const allowed: Came[] = mayFail ? ['allowed', 'refused'] : ['allowed'];
  if (who === 'nobody') return ['to sign in'];
  const [kind, role = 'OWNER'] = who.split(' ');
  const within = (ladder: readonly string[], held: string, least: string | null): readonly Came[] =>
    least !== null && isRoleAtLeast(ladder, held, least) ? allowed : ['forbidden'];
  if (kind === 'operator') return within(OPERATOR_ROLES, role, may.operators);
  if (may.members === null) return ['forbidden'];
  if (of === 'everyone') return within(MEMBER_ROLES, role, may.members);
  if (who === 'stranger' || (who === 'guest' && of === 'account')) return ['absent', 'refused'];
  return within(MEMBER_ROLES, who === 'guest' ? 'VIEWER' : role, may.members);
}

/** Asks for a page or sends a form as one of them, and tells its flash. */
async function ask(who: Who, { path, fields }: Sample): Promise<Shown & { flash: string | null }> {
  const browser = world.browsers[who];
  browser.cookies.delete('cfe_flash');
  const shown = fields
    ? await browser.post(path, { ...fields, form_token: await tokenOf(browser) })
    : await browser.get(path);
  const told = browser.cookies.get('cfe_flash');
  const flash = told
    ? (JSON.parse(Buffer.from(told, 'base64url').toString()) as { kind: string }).kind
    : null;
  return { ...shown, flash };
}

const tokens = new Map<Browser, string>();
async function tokenOf(browser: Browser): Promise<string> {
  const known = tokens.get(browser);
  if (known) return known;
  const me = await browser.get('/help');
  const token = formTokenIn((me.to === null ? me : await browser.get('/sign-in')).text);
  tokens.set(browser, token);
  return token;
}

/** By night everybody; else all that may not, and of each kind that may the one who is least. */
function askersOf(row: ConsolePage): readonly Who[] {
  if (NIGHTLY) return WHO;
  const seen = new Set<string>();
  return WHO.filter((who) => {
    const [kind = ''] = who.split(' ');
    if (expected(row, who)[0] !== 'allowed') return true;
    return !seen.has(kind) && seen.add(kind);
  });
}

describe.each(ROWS)('%s', (name, row) => {
  test('does for each role what that role may, and nothing for others', async () => {
    const page = PAGES.find((one) => nameOf(one) === name);
    // Those who may not come first: what they try to change is there for those who may.
    const inOrder = askersOf(row).toSorted(
      (a, b) => Number(expected(row, a)[0] === 'allowed') - Number(expected(row, b)[0] === 'allowed'),
    );
    for (const who of inOrder) {
      const shown = await ask(who, await row.sample(world.ours, world));
      const came = cameOf(row, shown);
      const right = expected(row, who);
      expect([page?.name, who, came, right.includes(came) ? '' : shown.text]).toEqual([
        page?.name,
        who,
        came,
        '',
      ]);
      if (row.isFile !== true && came === 'allowed' && !name.startsWith('POST'))
        expect(shown.headers.get('content-type')).toContain('text/html');
    }
  });
});

/** A page without what whoever asked brought along themselves. */
function told({ text }: Shown, { path }: Sample): string {
  const asked = path.replaceAll('&', '&amp;');
  const { searchParams } = new URL(path, 'http://console');
  // A filter shows what it was asked for.
  const filters = [...searchParams.values()].map((value) => `value="${value}"`);
  return [path, asked, encodeURIComponent(path), ...filters].reduce(
    (rest, one) => rest.replaceAll(one, ''),
    text,
  );
}

test.each(SHOWN)('%s tells a member of another account nothing of ours', async (_name, row) => {
  for (const side of [world.ours, world.theirs]) {
    const sample = await row.sample(side, world);
    const text = told(await ask('stranger', sample), sample);
    expect(world.ours.words.filter((word) => text.includes(word))).toEqual([]);
  }
});

test.each(SHOWN)('%s shows script that somebody stored as text', async (_name, row) => {
  for (const who of ['operator ADMIN', 'member OWNER'] as const) {
    const { text } = await ask(who, await row.sample(world.ours, world));
    if (row.isFile) continue;
    expect(text).not.toContain('<script>window');
    expect(text).not.toContain('<img src=x');
    expect(text).not.toMatch(/(href|src|action)="(javascript:|data:text|(https?:)?\/\/)/i);
    expect(text).not.toMatch(/<script(?![^>]* src="\/files\/)/);
  }
});

/** The row of the form that is sent to a path. */
function formAt(path: string): [string, ConsolePage] | undefined {
  const [plain = ''] = path.split('?');
  const page = PAGES.find(
    (one) => one.method === 'POST' && new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(plain),
  );
  return FORMS.find(([name]) => page && name === nameOf(page));
}

test.each(SHOWN)('%s offers no form that would be refused', async (_name, row) => {
  for (const who of askersOf(row)) {
    if (expected(row, who)[0] !== 'allowed' || row.isFile) continue;
    const { text } = await ask(who, await row.sample(world.ours, world));
    const actions = [...text.matchAll(/<form method="post" action="([^"]*)"|\sformaction="([^"]*)"/g)];
    for (const [, action, instead] of actions) {
      const path = (action ?? instead ?? '').replaceAll('&amp;', '&');
      if (['/language', '/sign-out'].includes(path)) continue;
      const form = formAt(path);
      expect([who, path, form && expected(form[1], who)[0]]).toEqual([who, path, 'allowed']);
    }
  }
});

test.each(['operator ADMIN', 'member OWNER'] as const)(
  'no link of any page leads %s to nothing',
  async (who) => {
    const found = new Map<string, string>();
    for (const [name, row] of SHOWN) {
      if (expected(row, who)[0] !== 'allowed' || row.isFile) continue;
      const { text } = await ask(who, await row.sample(world.ours, world));
      for (const [, href = ''] of text.matchAll(/<a [^>]*?href="(\/[^"#]*)"/g)) {
        const path = href.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');
        // One of a kind: of each page, and of each set of filters.
        const kind = path
          .replaceAll(/[\d-]{8,}|[0-9a-f-]{36}|\b\d{3}-\d+\b/g, '*')
          .replaceAll(/=[^&]*/g, '=*');
        if (!found.has(kind)) found.set(kind, `${name} → ${path}`);
      }
    }
    expect(found.size).toBeGreaterThan(15);
    const broken: string[] = [];
    for (const one of found.values()) {
      const { status } = await ask(who, { path: one.split(' → ')[1] ?? '/' });
      if (status >= 400) broken.push(`${one}: ${status}`);
    }
    expect(broken).toEqual([]);
  },
);

test('what is stored is evil, and is shown: on one’s own sessions, for one', async () => {
  const { text } = await ask('member OWNER', { path: '/' });
  expect(text).toContain(
    EVIL.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  );
});

test.each(FORMS)(
  '%s is refused without the token of its session, and from another site',
  async (_name, row) => {
    const { path, fields } = await row.sample(world.ours, world);
    const who = row.may.members === null ? 'operator ADMIN' : 'member OWNER';
    const browser = world.browsers[who];
    const stolen = await tokenOf(world.browsers.stranger);
    const own = await tokenOf(browser);
    for (const [token, headers] of [
      ['', {}],
      [stolen, {}],
      [own, { 'sec-fetch-site': 'cross-site' }],
      [own, { 'content-type': 'text/plain' }],
    ] as const) {
      const { status } = await browser.post(path, { ...fields, form_token: token }, headers);
      expect([status, token, headers]).toEqual([403, token, headers]);
    }
  },
);

test.each(ROWS)(
  '%s is framed by nobody, kept by nobody, and runs no script of its text',
  async (_name, row) => {
    const { headers } = await ask(row.may.members === null ? 'operator ADMIN' : 'member OWNER', {
      path: (await row.sample(world.ours, world)).path,
    });
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  },
);
