import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endSessions } from '../../../../src/commands/people/sessions.ts';
import { disableUser, inviteUser } from '../../../../src/commands/people/users.ts';
import { createPasswords } from '../../../../src/crypto/passwords.ts';
import { totpCode } from '../../../../src/crypto/totp.ts';
import { hashWebToken } from '../../../../src/crypto/webTokens.ts';
import { ConsoleSession, Person } from '../../../../src/db/entities/people.ts';
import { openOrm } from '../../../../src/db/orm.ts';
import { SESSION, SIGN_IN_LIMITS } from '../../../../src/domain/people/people.ts';
import { Refusal } from '../../../../src/errors.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import {
  CHEAP,
  formTokenIn,
  PASSWORD,
  startConsole,
  type TestConsole,
} from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { startTcpProxy } from '../../../support/processes/tcpProxy.ts';

let db: TestDatabase;
let site: TestConsole;
let account: string;
const checks: (string | null)[] = [];
beforeAll(async () => {
  db = await cloneDatabase();
  const real = createPasswords(CHEAP);
  site = await startConsole(db.orm, {
    passwords: {
      ...real,
      matches(password, hash, from) {
        checks.push(hash);
        return real.matches(password, hash, from);
      },
    },
  });
  account = await anAccount(db.orm);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const refuse = () => {
  throw new Error('the reason');
};
let networks = 0;
/** A browser in a network of its own, as a proxy tells. */
const elsewhere = () => site.aBrowser({ 'x-forwarded-for': `198.51.100.${(networks += 1)}` });
const auditOf = (email: string) =>
  db.orm.em
    .fork()
    .execute<{ actor: string; action: string; address: string | null }[]>(
      'select actor, action, address from audit where subject = ? order by id',
      [email],
    );

describe('signing in', () => {
  test('a member enters with a password, an operator with a code besides; both stand in the audit', async () => {
    const member = await site.aMember(account, 'VIEWER');
    const operator = await site.anOperator('SUPPORT');
    const first = elsewhere();
    expect(
      (await first.send('/sign-in?to=%2Fme', { email: member.email.toUpperCase(), password: PASSWORD })).to,
    ).toBe('/me');
    expect((await first.get('/')).status).toBe(200);

    const second = elsewhere();
    const half = await second.send('/sign-in', { email: operator.email, password: PASSWORD });
    expect(half.to).toBe('/sign-in/code?to=%2F');
    expect((await second.get('/')).to).toBe('/sign-in');
    expect((await second.send('/sign-in/code', { code: site.codeOf(operator) })).to).toBe('/');
    expect((await second.get('/me')).text).toContain(operator.email);
    expect(await auditOf(operator.email)).toContainEqual(
      expect.objectContaining({ actor: `console:${operator.email}`, action: 'user.sign_in' }),
    );
  });

  test('the session is another than the browser brought: what somebody planted there opens nothing', async () => {
    const member = await site.aMember(account, 'VIEWER');
    const victim = elsewhere();
    await victim.get('/sign-in');
    const planted = victim.cookies.get('cfe_session') ?? '';
    await victim.send('/sign-in', { email: member.email, password: PASSWORD });

    expect(victim.cookies.get('cfe_session')).not.toBe(planted);
    const thief = elsewhere();
    thief.cookies.set('cfe_session', planted);
    expect((await thief.get('/me')).to).toMatch(/^\/sign-in/);
  });

  test('the token of the half session opens nothing once the code was given', async () => {
    const operator = await site.anOperator('VIEWER');
    const browser = elsewhere();
    await browser.send('/sign-in', { email: operator.email, password: PASSWORD });
    const half = browser.cookies.get('cfe_session') ?? '';
    await browser.send('/sign-in/code', { code: site.codeOf(operator) });
    browser.cookies.set('cfe_session', half);
    expect((await browser.get('/me')).to).toMatch(/^\/sign-in/);
  });

  test('a code is taken once, also of several at the same instant', async () => {
    const operator = await site.anOperator('VIEWER');
    const browsers = [elsewhere(), elsewhere(), elsewhere()];
    for (const browser of browsers)
      await browser.send('/sign-in', { email: operator.email, password: PASSWORD });
    const code = site.codeOf(operator);
    const tokens = await Promise.all(
      browsers.map(async (browser) => formTokenIn((await browser.get('/sign-in/code')).text)),
    );
    const answers = await Promise.all(
      browsers.map((browser, i) => browser.post('/sign-in/code', { code, form_token: tokens[i] ?? '' })),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['303', '403', '403']);
  });

  const ELSEWHERE = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
  ];

  test('nor does any other form that says where it came from lead to one', async () => {
    const browser = await site.as(await site.aMember(account, 'VIEWER'));
    for (const to of ELSEWHERE) {
      const forms = {
        '/language': { language: 'es', to },
        '/saved-filters': { name: 'Mío', to },
        '/saved-filters/00000000-0000-4000-8000-000000000000/delete': { to },
      };
      for (const [path, fields] of Object.entries(forms))
        expect([path, to, (await browser.send(path, fields)).to]).toEqual([path, to, '/']);
    }
  });

  test('leads to no other host afterwards', async () => {
    const member = await site.aMember(account, 'VIEWER');
    for (const to of ELSEWHERE) {
      const browser = elsewhere();
      const query = new URLSearchParams({ to }).toString();
      const { to: where } = await browser.send(`/sign-in?${query}`, {
        email: member.email,
        password: PASSWORD,
      });
      expect([to, where]).toEqual([to, '/']);
    }
  });

  test('an unknown address costs the same work and gets the same words as a wrong password', async () => {
    const member = await site.aMember(account, 'VIEWER');
    checks.length = 0;
    const wrong = await elsewhere().send('/sign-in', {
      email: member.email,
      password: 'another one, not right',
    });
    const unknown = await elsewhere().send('/sign-in', {
      email: 'nobody@example.com',
      password: 'another one, not right',
    });
    const plain = (text: string) => text.replace(/value="[^"]*"/g, '');
    expect([wrong.status, unknown.status]).toEqual([403, 403]);
    expect(plain(unknown.text)).toBe(plain(wrong.text));
    // Both were hashed: against the stored hash, and against one that nobody has.
    expect(checks).toEqual([expect.stringMatching(/^scrypt/), null]);
  });
});

describe('sessions', () => {
  test('end after half an hour without use, after twelve hours in all, and by hand elsewhere', async () => {
    const member = await site.aMember(account, 'VIEWER');
    const idle = await site.as(member);
    site.pass(SESSION.idleMilliseconds + 1_000);
    expect((await idle.get('/me')).to).toMatch(/^\/sign-in/);

    const busy = await site.as(member);
    for (let passed = 0; passed < SESSION.longestMilliseconds; passed += 20 * 60_000) {
      expect((await busy.get('/me')).status).toBe(200);
      site.pass(20 * 60_000);
    }
    expect((await busy.get('/me')).to).toMatch(/^\/sign-in/);

    const [here, there] = [await site.as(member), await site.as(member)];
    expect((await here.send('/me/sessions', {})).to).toBe('/me');
    expect([(await here.get('/me')).status, (await there.get('/me')).to]).toEqual([200, '/sign-in?to=%2Fme']);
    await here.send('/sign-out', {});
    expect((await here.get('/')).to).toBe('/sign-in');
  });

  test('a page that draws itself anew keeps no session alive', async () => {
    const browser = await site.as(await site.aMember(account, 'VIEWER'));
    for (const _ of [1, 2]) {
      site.pass(SESSION.idleMilliseconds / 2 + 1_000);
      await browser.get('/', { 'HX-Request': 'true' });
    }
    expect((await browser.get('/')).to).toBe('/sign-in');
  });

  test('a form that comes after the end is not done, says so, and leads back to its page', async () => {
    const member = await site.aMember(account, 'OWNER');
    const browser = await site.as(member, { 'accept-language': 'en' });
    const path = `/webhooks?account=${account}`;
    const form_token = formTokenIn((await browser.get(path)).text);
    site.pass(SESSION.idleMilliseconds + 60_000);
    const fields = { account, url: 'https://example.com/aviso', event: ['cfe.updated'], form_token };
    const { to } = await browser.post('/webhooks', fields);
    expect(to).toBe(`/sign-in?to=${encodeURIComponent(path)}`);
    const shown = (await browser.get(to ?? '')).text;
    expect(shown).toContain('Your session had ended, and nothing you sent was done.');
    expect((await browser.send(to ?? '', { email: member.email, password: PASSWORD })).to).toBe(path);
    // Of whoever has no session at all too; what nobody waits for says nothing.
    const stranger = elsewhere();
    expect((await stranger.post('/me/password', { form_token: 'x' })).to).toBe('/sign-in?to=%2Fme');
    expect((await stranger.post('/sign-out', { form_token: 'x' })).to).toBe('/sign-in');
  });

  test('nobody ends the session of another', async () => {
    const [one, other] = [await site.aMember(account, 'OWNER'), await site.aMember(account, 'VIEWER')];
    const [mine, theirs] = [await site.as(one), await site.as(other)];
    const row = await db.orm.em
      .fork()
      .findOneOrFail(ConsoleSession, { tokenHash: hashWebToken(theirs.cookies.get('cfe_session') ?? '') });
    await mine.send('/me/sessions', { session: row.id });
    expect((await theirs.get('/me')).status).toBe(200);
  });

  test('all end when the user is disabled, when an operator ends them, and when the password changes, but that one', async () => {
    const member = await site.aMember(account, 'VIEWER');
    const [one, other] = [await site.as(member), await site.as(member)];
    const next = 'otras palabras, tambien largas';
    expect((await one.send('/me/password', { old: PASSWORD, password: next })).to).toBe('/me');
    expect([(await one.get('/me')).status, (await other.get('/me')).status]).toEqual([200, 303]);
    await endSessions({ ...site.deps, actor: 'cli:ana' }, { email: member.email });
    expect((await one.get('/me')).status).toBe(303);

    const third = await site.as(await site.aMember(account, 'VIEWER'));
    const email = /persona\d+@example.com/.exec((await third.get('/me')).text)?.[0] ?? '';
    await disableUser(site.deps, { email });
    expect((await third.get('/me')).status).toBe(303);
    expect((await third.send('/sign-in', { email, password: PASSWORD })).status).toBe(403);
  });

  test('the cookie is kept from scripts and other sites, and behind https from plain connections', async () => {
    await using secure = await startConsole(db.orm, { consoleUrl: 'https://console.example' });
    const [plain] = (await site.aBrowser().get('/sign-in')).headers.getSetCookie();
    const [https] = (await secure.aBrowser().get('/sign-in')).headers.getSetCookie();
    expect(plain).toMatch(/^cfe_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(https).toMatch(/^__Host-cfe_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
  });
});

describe('forms', () => {
  test('are refused without the token of this browser, with another browser’s, and from another site', async () => {
    const [mine, thiefs] = [
      await site.as(await site.aMember(account, 'OWNER')),
      await site.as(await site.aMember(account, 'OWNER')),
    ];
    const token = formTokenIn((await mine.get('/me')).text);
    const others = formTokenIn((await thiefs.get('/me')).text);
    const language = { language: 'en', to: '/' };
    for (const [fields, headers] of [
      [language, {}],
      [{ ...language, form_token: others }, {}],
      [{ ...language, form_token: token }, { 'sec-fetch-site': 'cross-site' }],
      [{ ...language, form_token: token }, { 'sec-fetch-site': 'same-site' }],
      [{ ...language, form_token: token }, { 'content-type': 'text/plain' }],
    ] as const) {
      expect((await mine.post('/language', fields, headers)).status).toBe(403);
    }
    expect((await mine.post('/language', { ...language, form_token: token })).status).toBe(303);
    expect((await mine.post('/sign-in', { email: 'a@example.com', password: PASSWORD })).status).toBe(403);
  });

  test.each(['/language', '/sign-in', '/nowhere'])(
    'sent to %s by another site, without the cookie, leave the person signed in',
    async (path) => {
      const { headers } = await site.aBrowser().post(path, {}, { 'sec-fetch-site': 'cross-site' });
      expect(headers.getSetCookie().filter((cookie) => cookie.startsWith('cfe_session='))).toEqual([]);
    },
  );

  test('no page is framed, runs script of its text, or loads from another host', async () => {
    const { headers, text } = await site.aBrowser().get('/sign-in');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).not.toMatch(/(src|href|action)="(https?:)?\/\//);
    expect(text).not.toMatch(/<script(?![^>]* src=)|\son\w+=|\sstyle=/);
  });
});

describe('guessing', () => {
  test('of one password from many networks is stopped, and its owner enters from a browser where they were before', async () => {
    const member = await site.aMember(account, 'VIEWER');
    const own = await site.as(member);
    await own.send('/sign-out', {});
    const wrong = { email: member.email, password: 'surely not this one' };
    for (let i = 0; i < SIGN_IN_LIMITS.account; i += 1) await elsewhere().send('/sign-in', wrong);

    const stranger = elsewhere();
    const right = { email: member.email, password: PASSWORD };
    const stopped = await stranger.send('/sign-in', right);
    expect(stopped.status).toBe(429);
    expect((await own.send('/sign-in', right)).status).toBe(303);
    site.pass(SIGN_IN_LIMITS.seconds * 1_000);
    expect((await stranger.send('/sign-in', right)).status).toBe(303);
  });

  test('from one network is stopped, many at the same instant too; other networks notice nothing', async () => {
    const members = [await site.aMember(account, 'VIEWER'), await site.aMember(account, 'VIEWER')];
    const attacker = elsewhere();
    const form_token = formTokenIn((await attacker.get('/sign-in')).text);
    const before = checks.length;
    const answers = await Promise.all(
      Array.from({ length: SIGN_IN_LIMITS.network + 10 }, (_, i) =>
        attacker.post('/sign-in', { email: `guess${i}@example.com`, password: PASSWORD, form_token }),
      ),
    );
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
    expect(checks.length - before).toBeLessThanOrEqual(SIGN_IN_LIMITS.network);
    expect(
      (await attacker.send('/sign-in', { email: members[0]?.email ?? '', password: PASSWORD })).status,
    ).toBe(429);
    expect(
      (await elsewhere().send('/sign-in', { email: members[1]?.email ?? '', password: PASSWORD })).status,
    ).toBe(303);
  });

  test('of codes is stopped too', async () => {
    const operator = await site.anOperator('ADMIN');
    const browser = elsewhere();
    await browser.send('/sign-in', { email: operator.email, password: PASSWORD });
    const statuses: number[] = [];
    for (let i = 0; i < SIGN_IN_LIMITS.account + 1; i += 1) {
      statuses.push((await browser.send('/sign-in/code', { code: '000000' })).status);
    }
    expect(statuses.at(-1)).toBe(429);
    expect((await browser.send('/sign-in/code', { code: site.codeOf(operator) })).status).toBe(429);
  });

  test('a right password is no failure: who signs in often is never stopped', async () => {
    const member = await site.aMember(account, 'VIEWER');
    for (let i = 0; i < SIGN_IN_LIMITS.account + 5; i += 1) {
      expect((await elsewhere().send('/sign-in', { email: member.email, password: PASSWORD })).status).toBe(
        303,
      );
    }
  });

  test('is counted where a password is right and no code follows: it begins few sessions', async () => {
    const operator = await site.anOperator('VIEWER');
    const right = { email: operator.email, password: PASSWORD };
    const statuses: number[] = [];
    for (let i = 0; i < SIGN_IN_LIMITS.account + 1; i += 1)
      statuses.push((await elsewhere().send('/sign-in', right)).status);
    expect([statuses.at(-2), statuses.at(-1)]).toEqual([303, 429]);
  });

  test('no sessions without end: who signs in for the 61st time in 15 minutes is told to wait', async () => {
    const member = await site.aMember(account, 'VIEWER');
    const { id } = await db.orm.em.fork().findOneOrFail(Person, { email: member.email });
    await db.orm.em
      .fork()
      .execute('insert into sign_in_count (place, since, attempts) values (?, ?, ?)', [
        `done:${id}`,
        site.deps.clock(),
        SIGN_IN_LIMITS.done - 1,
      ]);
    const right = { email: member.email, password: PASSWORD };
    const answers = [await elsewhere().send('/sign-in', right), await elsewhere().send('/sign-in', right)];
    expect(answers.map(({ status }) => status)).toEqual([303, 429]);
    expect((await auditOf(member.email)).filter(({ action }) => action === 'user.sign_in')).toHaveLength(1);
  });
});

describe('invitations', () => {
  test('are accepted by one of two at the same instant, and never again', async () => {
    const member = await site.aMember(account, 'VIEWER');
    const { token } = (await inviteUser(site.deps, { email: member.email })).invitation;
    const path = `/invitation/${token}`;
    const browsers = [elsewhere(), elsewhere()];
    const tokens = await Promise.all(
      browsers.map(async (browser) => formTokenIn((await browser.get(path)).text)),
    );
    const passwords = ['una contraseña nueva y larga', 'otra contraseña nueva y larga'];
    const answers = await Promise.all(
      browsers.map((browser, i) =>
        browser.post(path, { password: passwords[i] ?? '', code: '', form_token: tokens[i] ?? '' }),
      ),
    );
    expect(answers.map(({ to }) => String(to)).toSorted()).toEqual([path, '/sign-in'].toSorted());
    const winner = passwords[answers.findIndex(({ to }) => to === '/sign-in')] ?? '';
    expect((await elsewhere().send('/sign-in', { email: member.email, password: winner })).status).toBe(303);
    expect((await elsewhere().get(path)).status).toBe(404);
  });

  test('end after a day, and with the next one; an easy password and a wrong code leave them good', async () => {
    const operator = await site.anOperator('VIEWER');
    const invite = async () =>
      `/invitation/${(await inviteUser(site.deps, { email: operator.email })).invitation.token}`;
    const [old, path] = [await invite(), await invite()];
    expect((await elsewhere().get(old)).status).toBe(404);
    const browser = elsewhere();
    const form_token = formTokenIn((await browser.get(path)).text);
    const token = path.split('/').at(-1) ?? '';
    const secret = site.deps.totpSecrets.ofInvitation(token);
    for (const [password, code] of [
      ['short', totpCode(secret, site.deps.clock())],
      ['aaaaaaaaaaaaaaaaaa', totpCode(secret, site.deps.clock())],
      ['Contraseña1234', totpCode(secret, site.deps.clock())],
      [PASSWORD, '000000'],
      [PASSWORD, ''],
    ]) {
      expect((await browser.post(path, { password: password ?? '', code: code ?? '', form_token })).to).toBe(
        path,
      );
    }
    const done = await browser.post(path, {
      password: PASSWORD,
      code: totpCode(secret, site.deps.clock()),
      form_token,
    });
    expect(done.to).toBe('/sign-in');

    const late = await invite();
    site.pass(24 * 3_600_000 + 1);
    expect((await elsewhere().get(late)).status).toBe(404);
  });
});

test('nothing in the database signs in: neither tokens nor passwords nor secrets of apps stand there', async () => {
  const operator = await site.anOperator('ADMIN');
  const browser = await site.as(operator);
  const row = await db.orm.em.fork().findOneOrFail(Person, { email: operator.email });
  const stored = JSON.stringify([row, await db.orm.em.fork().execute('select * from console_session')]);
  expect(stored).not.toContain(browser.cookies.get('cfe_session'));
  expect(stored).not.toContain(PASSWORD);
  expect(stored).not.toContain(operator.totp?.toString('base64url'));
  expect(JSON.stringify(site.lines)).not.toContain(PASSWORD);
});

test('an operator whose second factor is gone sees nothing with a password alone', async () => {
  const operator = await site.anOperator('ADMIN');
  await db.orm.em.fork().nativeUpdate(Person, { email: operator.email }, { sealedTotp: null });
  const browser = elsewhere();
  await browser.send('/sign-in', { email: operator.email, password: PASSWORD });
  expect((await browser.get('/')).status).toBe(403);
  // Nor are they locked in: they can sign in as somebody else, and take the invitation that mends it.
  expect((await browser.get('/sign-in')).status).toBe(200);
  const { token } = (await inviteUser(site.deps, { email: operator.email })).invitation;
  expect((await browser.get(`/invitation/${token}`)).status).toBe(200);
});

test('while too many sign in, one more is told so, and no word of data that cannot be reached', async () => {
  const full = { retryAfterSeconds: 2 };
  const matches = () => Promise.reject(new Refusal('UNAVAILABLE', 'Too many.', full));
  await using busy = await startConsole(db.orm, { passwords: { ...createPasswords(CHEAP), matches } });
  const { status, text } = await busy
    .aBrowser({ 'accept-language': 'es' })
    .send('/sign-in', { email: 'ana@example.com', password: PASSWORD });
  expect([status, text.includes('Demasiadas personas están ingresando')]).toEqual([503, true]);
});

describe('a refusal is told in the language of the page', () => {
  const SPANISH = { 'accept-language': 'es' };

  test('whoever made it', async () => {
    const browser = await site.as(await site.aMember(account, 'VIEWER'));
    const told = async (path: string) => (await browser.get(path, SPANISH)).text;
    expect(await told('/nothing')).toContain(
      'No hay ninguna página en esta dirección, o usted no tiene acceso a ella.',
    );
    expect(await told(`/sign-in?to=${'x'.repeat(3_000)}`)).toContain(
      'Uno de los datos enviados no es válido.',
    );
    expect(await told('/invitation/none')).toContain(
      'No hay ninguna página en esta dirección, o usted no tiene acceso a ella.',
    );
    expect(await told(`/invitation/${'a'.repeat(43)}`)).toContain('Esta invitación ya se usó');
    const stale = await browser.post('/sign-out', { form_token: 'x' }, SPANISH);
    expect(stale.text).toContain('Este formulario es de una sesión anterior.');
  });

  test('as its reader chose it, on every path', async () => {
    const browser = elsewhere();
    await browser.send('/language', { language: 'en', to: '/' });
    expect((await browser.get('/nothing', SPANISH)).text).toContain(
      'There is no page at this address, or you don’t have access to it.',
    );
  });

  test('also while the database is away; the session is good when it is back', async () => {
    const member = await site.aMember(account, 'VIEWER');
    const browser = await site.as(member);
    const proxy = await startTcpProxy(db.databaseUrl);
    const orm = await openOrm({ databaseUrl: proxy.url, pool: 1 });
    await using away = await startConsole(orm);
    const there = away.aBrowser(SPANISH);
    there.cookies.set('cfe_session', browser.cookies.get('cfe_session') ?? '');
    expect((await there.get('/me')).status).toBe(200);
    await proxy.cut();
    const { status, text, headers } = await there.get('/me');
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(text).toContain('La consola no puede acceder a sus datos.');
    expect(text).not.toContain('Nada cambió');
    expect(there.cookies.get('cfe_session')).toBe(browser.cookies.get('cfe_session'));
    expect((await browser.get('/me')).status).toBe(200);
    await orm.close(true);
  });

  test('also where the fault is ours, and its reason stays in the log', async () => {
    const broken = { em: { fork: () => ({ execute: refuse, getConnection: refuse }) } };
    await using dead = await startConsole(broken as unknown as typeof db.orm);
    const browser = dead.aBrowser(SPANISH);
    browser.cookies.set('cfe_session', 'a'.repeat(43));
    const { status, text } = await browser.get('/me');
    expect(status).toBe(500);
    expect(text).toContain('El error es nuestro.');
    expect(text).not.toContain('the reason');
  });
});
