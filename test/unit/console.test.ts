import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { highestAccess, viewerOf } from '../../src/console/access/access.ts';
import {
  AUDIENCE_BY_ROUTE,
  accountsFor,
  audienceOf,
  isForAnyone,
  mayOpen,
  mayUse,
  mayUseForAccount,
  type PageRoute,
} from '../../src/console/access/permissions.ts';
import { age, amount, browserName, dateOf, figure, timeOf } from '../../src/console/format.ts';
import { ownPath } from '../../src/console/links.ts';
import { csvLine } from '../../src/console/lists.ts';
import { createKnownBrowsers } from '../../src/crypto/knownBrowsers.ts';
import { createTotpSecrets, matchTotpStep, totpCode } from '../../src/crypto/totp.ts';
import { html } from '../../src/page/html.ts';
import { languageOf, TEXTS } from '../../src/words/console.ts';
import { aPepper } from '../support/database/pepper.ts';

const SRC = join(import.meta.dirname, '../../src/console');

describe('html', () => {
  test('escapes whatever is text, wherever it stands, and nothing that is HTML', () => {
    const evil = `"><script>alert('&')</script>`;
    const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;';
    expect(html`<a title="${evil}">${[evil, html`<b>${evil}</b>`]}</a>`.text).toBe(
      `<a title="${escaped}">${escaped}<b>${escaped}</b></a>`,
    );
    expect(html`${null}${undefined}${false}${0}`.text).toBe('0');
  });

  test('stands between quotes in every attribute of every page', () => {
    const files = globSync('**/*.ts', { cwd: SRC });
    expect(files.length).toBeGreaterThan(10);
    const bare = files.flatMap(
      (file) => readFileSync(join(SRC, file), 'utf8').match(/<\w[^>`]*\s[\w-]+=\$\{/g) ?? [],
    );
    expect(bare).toEqual([]);
  });
});

test.each([
  ['/cfes?rut=1', '/cfes?rut=1'],
  [undefined, '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example', '/'],
  ['/a\nb', '/'],
  ['/..//evil.example', '/'],
])('a path to go on to, %j, is %j', (given, path) => {
  const found = ownPath(given);
  expect(new URL(found, 'https://console.example').origin).toBe('https://console.example');
  expect(found).toBe(path);
});

test.each([
  ['es', ['0', '999', '1.000', '1.234.567'], ['UYU 990,00', 'USD 1.990,50', 'UYU 18.450,50']],
  ['en', ['0', '999', '1,000', '1,234,567'], ['UYU 990.00', 'USD 1,990.50', 'UYU 18,450.50']],
] as const)('figures and amounts as a page in %s writes them', (language, figures, amounts) => {
  const texts = TEXTS[language];
  expect([0, 999, 1_000, 1_234_567].map((n) => figure(n, texts))).toEqual(figures);
  expect([
    amount('UYU', '990', texts),
    amount('USD', '1990.5', texts),
    amount('UYU', '18450.50', texts),
  ]).toEqual(amounts);
});

test('days and moments, in Montevideo, as people write them', () => {
  expect(dateOf('2026-11-22').text).toBe('<time datetime="2026-11-22">22/11/2026</time>');
  expect(timeOf(new Date('2026-11-22T02:04:05Z')).text).toContain('>21/11/2026 23:04:05<');
});

test('screens say el CAE, and in English company and DGI', () => {
  const { es, en } = TEXTS;
  expect(JSON.stringify(es)).not.toMatch(/\b(una|la|las|otra) CAE\b/);
  expect(JSON.stringify(en)).not.toMatch(
    /":"[^"]*\b((?<!certification )authority|enterprises?|anew)\b[^"]*"/i,
  );
});

describe('codes of an app', () => {
  const secret = Buffer.from('12345678901234567890');

  // RFC 6238, appendix B; the last six of its eight digits.
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at second %i are those of the RFC', (seconds, code) => {
    expect(totpCode(secret, new Date(seconds * 1_000))).toBe(code);
  });

  test('count half a minute early and late, and no further', () => {
    const at = (seconds: number) => new Date(1_111_111_111_000 + seconds * 1_000);
    const code = totpCode(secret, at(0));
    expect([-30, 0, 30].map((s) => matchTotpStep(secret, code, at(s)) !== null)).toEqual([true, true, true]);
    expect([-90, 90].map((s) => matchTotpStep(secret, code, at(s)))).toEqual([null, null]);
    const others = ['', '05047', '0504711', ' 50471', '٠٥٠٤٧١', '05047é'];
    expect(others.map((text) => matchTotpStep(secret, text, at(0)))).toEqual(others.map(() => null));
    expect(matchTotpStep(secret, ' 050 471 ', at(0))).toBe(matchTotpStep(secret, code, at(0)));
  });
});

test('a secret that is offered opens in its session alone, unchanged, until its time is over, and under the same pepper', () => {
  const totp = createTotpSecrets([aPepper()]);
  const [now, until] = [new Date(1_000), new Date(2_000)];
  const { secret, sealed } = totp.offer('session', until);
  expect(secret).toHaveLength(20);
  expect(totp.offer('session', until).secret).not.toEqual(secret);
  expect(totp.offered(sealed, 'session', now)).toEqual(secret);
  expect(totp.offered(sealed, 'session', until)).toBeNull();
  expect(totp.offered(sealed, 'another', now)).toBeNull();
  expect(createTotpSecrets([aPepper()]).offered(sealed, 'session', now)).toBeNull();
  // What is stored with a person is no offer, nor the other way round.
  expect(totp.offered(totp.seal(secret, 'session'), 'session', now)).toBeNull();
  expect(() => totp.open(sealed, 'session')).toThrow();
  for (const text of [
    '',
    'x',
    sealed.slice(1),
    sealed.slice(0, -4),
    `${sealed}AAAA`,
    'A'.repeat(sealed.length),
  ])
    expect([text, totp.offered(text, 'session', now)]).toEqual([text, null]);
});

test('a browser is known for whom it was given to, by who holds the pepper', () => {
  const known = createKnownBrowsers([aPepper()]);
  const held = known.remember('Ana@example.com', undefined);
  const both = known.remember('beto@example.com', held);
  expect(known.idFor('ana@example.com', both)).toBe(held.split('.')[0]);
  expect(known.idFor('beto@example.com', both)).toBe(held.split('.')[0]);
  expect(known.idFor('beto@example.com', held)).toBeNull();
  expect(createKnownBrowsers([aPepper()]).idFor('ana@example.com', held)).toBeNull();
  expect(known.idFor('ana@example.com', `${'x'.repeat(16)}.${held.split('.')[1]}`)).toBeNull();
});

test('under a new pepper a browser stays known, an offered secret opens, and a sealed one is told from a new one', () => {
  const [old, fresh] = [aPepper('old'), aPepper('fresh')];
  const held = createKnownBrowsers([old]).remember('ana@example.com', undefined);
  const known = createKnownBrowsers([fresh, old]);
  expect(known.idFor('ana@example.com', held)).toBe(held.split('.')[0]);
  const again = known.remember('ana@example.com', held);
  expect(again.split('.')).toHaveLength(2);
  expect(createKnownBrowsers([fresh]).idFor('ana@example.com', again)).toBe(held.split('.')[0]);
  expect(createKnownBrowsers([fresh]).idFor('ana@example.com', held)).toBeNull();

  const before = createTotpSecrets([old]);
  const rotated = createTotpSecrets([fresh, old]);
  const { secret, sealed } = before.offer('session', new Date(2_000));
  expect(rotated.offered(sealed, 'session', new Date(1_000))).toEqual(secret);
  const atRest = before.seal(secret, 'person');
  expect(rotated.open(atRest, 'person')).toEqual(secret);
  expect([rotated.isOld(atRest), rotated.isOld(rotated.seal(secret, 'person'))]).toEqual([true, false]);
  expect(() => createTotpSecrets([fresh]).open(atRest, 'person')).toThrow('not configured');
});

test('an operator is one by a second factor or by the OpenID provider; else a member of what accounts there are', () => {
  const session = { id: '', personId: '', email: '', operatorRole: 'ADMIN', complete: true } as const;
  const memberships = [{ accountId: 'a', accountName: 'A', role: 'VIEWER' }] as const;
  expect(viewerOf({ ...session, method: 'password', hasSecondFactor: true }, [])).toEqual({
    kind: 'operator',
    role: 'ADMIN',
  });
  expect(viewerOf({ ...session, method: 'oidc', hasSecondFactor: false }, [])).toEqual({
    kind: 'operator',
    role: 'ADMIN',
  });
  expect(viewerOf({ ...session, method: 'password', hasSecondFactor: false }, [])).toBeNull();
  expect(viewerOf({ ...session, method: 'password', hasSecondFactor: false }, memberships)).toEqual({
    kind: 'member',
    memberships,
  });
});

test('the language is the one that was chosen, else the browser’s wish, else Spanish', () => {
  expect(languageOf('en', 'es')).toBe('en');
  expect(languageOf(undefined, 'fr, en-GB;q=0.8, es;q=0.5')).toBe('en');
  expect(languageOf('xx', 'de')).toBe('es');
  expect(languageOf(undefined, undefined)).toBe('es');
});

test('an age has its unit', () => {
  const of = (seconds: number) => age(seconds * 1_000, TEXTS.en);
  expect([5, 119, 120, 7_199, 7_200, 172_800].map(of)).toEqual([
    '5 s',
    '119 s',
    '2 min',
    '119 min',
    '2 h',
    '2 d',
  ]);
});

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    'Chrome, Linux',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge, Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari, iOS',
  ],
  ['Mozilla/5.0 (Android 15; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0', 'Firefox, Android'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['', ''],
])('the browser %j is called %j', (agent, name) => {
  expect(browserName(agent)).toBe(name);
});

describe('what somebody may at an enterprise', () => {
  const of = (...roles: ['VIEWER' | 'MEMBER' | 'OWNER', string][]) => ({
    kind: 'member' as const,
    memberships: roles.map(([role, accountId]) => ({ role, accountId, accountName: accountId })),
  });
  const there = new Map([
    ['owner', 'OWNER' as const],
    ['granted', 'MEMBER' as const],
    ['reads', 'VIEWER' as const],
  ]);

  test.each([
    ['OWNER', 'owner', 'OWNER'],
    ['MEMBER', 'owner', 'MEMBER'],
    ['VIEWER', 'owner', 'VIEWER'],
    ['OWNER', 'granted', 'MEMBER'],
    ['VIEWER', 'granted', 'VIEWER'],
    ['OWNER', 'reads', 'VIEWER'],
    ['OWNER', 'elsewhere', undefined],
  ] as const)('%s of an account that is “%s” there: %s', (role, account, stands) => {
    expect(highestAccess(of([role, account]), there)?.role).toBe(stands);
  });

  test('of several accounts, the one by which they are most', () => {
    expect(highestAccess(of(['OWNER', 'reads'], ['MEMBER', 'owner'], ['OWNER', 'elsewhere']), there)).toEqual(
      {
        kind: 'member',
        role: 'MEMBER',
        accountId: 'owner',
      },
    );
  });

  const ROUTE = 'POST /deliveries/{id}/redeliver';
  test.each([
    [{ kind: 'operator', role: 'VIEWER' }, false],
    [{ kind: 'operator', role: 'SUPPORT' }, true],
    [{ kind: 'operator', role: 'ADMIN' }, true],
    [{ kind: 'member', role: 'VIEWER', accountId: 'a' }, false],
    [{ kind: 'member', role: 'MEMBER', accountId: 'a' }, true],
    [{ kind: 'member', role: 'OWNER', accountId: 'a' }, true],
    [null, false],
  ] as const)('%j may do what is for SUPPORT and MEMBER: %s', (standing, may) => {
    expect(mayUse(standing, ROUTE)).toBe(may);
  });

  test('at an account: only by a role in that one', () => {
    const viewer = of(['OWNER', 'a'], ['VIEWER', 'b']);
    expect(['a', 'b', 'c'].map((account) => mayUseForAccount(viewer, account, ROUTE))).toEqual([
      true,
      false,
      false,
    ]);
    expect(accountsFor(viewer, ROUTE)).toEqual(['a']);
    expect([mayOpen(viewer, ROUTE), mayOpen(of(['VIEWER', 'b']), ROUTE)]).toEqual([true, false]);
  });

  test('an operator who may, for all accounts; one who may not, for none', () => {
    const [support, viewer] = [
      { kind: 'operator', role: 'SUPPORT' },
      { kind: 'operator', role: 'VIEWER' },
    ] as const;
    expect([accountsFor(support, ROUTE), accountsFor(viewer, ROUTE)]).toEqual([null, []]);
    expect([mayUseForAccount(support, 'c', ROUTE), mayUseForAccount(viewer, 'c', ROUTE)]).toEqual([
      true,
      false,
    ]);
    expect([mayOpen(support, ROUTE), mayOpen(viewer, ROUTE)]).toEqual([true, false]);
  });
});

/** What docs/console.md#people-and-roles says, by routes: the first that fits. Operators and members, each from a role on. */
const RULES = [
  [/^POST \/me\/second-factor\/off$/, null, 'VIEWER'],
  [/ \/(me|sign-out|saved-filters|help)\b/, 'VIEWER', 'VIEWER'],
  [/^GET \/(accounts|audit|stuck|rates)\b|\/exchange$/, 'VIEWER', null],
  [/^GET \/plan\/\{rut\}\/payments/, null, 'OWNER'],
  [/^GET \/(keys|members|plan)\b/, null, 'VIEWER'],
  [/ \/exports\b|^GET \/runs\/new$/, 'SUPPORT', 'MEMBER'],
  [/^GET /, 'VIEWER', 'VIEWER'],
  [/^POST \/(keys|members|plan)\b/, null, 'OWNER'],
  [/^POST \/(runs|deliveries)\b|\/mails\b|\/credit\b/, 'SUPPORT', 'MEMBER'],
  [/^POST \/rates\b/, 'ADMIN', null],
  [/^POST \/(cfes|reports)\b|\/send-report$/, 'SUPPORT', null],
  [/^POST \/webhooks\b|\/(customers|login|caes)\b/, 'ADMIN', 'MEMBER'],
  [/\/(certificate|data|logo|branches|annulments|homologation)\b/, 'ADMIN', 'OWNER'],
  [/^POST \/(accounts|enterprises)\b/, 'ADMIN', null],
] as const;

test('the table of who may do what says what the document says', () => {
  const routes = (Object.keys(AUDIENCE_BY_ROUTE) as PageRoute[]).filter((route) => !isForAnyone(route));
  expect(routes.map((route) => [route, audienceOf(route)])).toEqual(
    routes.map((route) => {
      const [, operators, members] = RULES.find(([fits]) => fits.test(route)) ?? [];
      return [route, { operators, members }];
    }),
  );
});

test.each([
  [['a', 1, null, true], 'a,1,,true'],
  [['a,b', 'say "x"', 'two\nlines'], '"a,b","say ""x""","two\nlines"'],
  [['=1+1', '+a', '-a', '@a', '\t=a', '\r=a'], `'=1+1,'+a,'-a,'@a,'\t=a,"'\r=a"`],
  [['=HYPERLINK("http://e.example","x")'], `"'=HYPERLINK(""http://e.example"",""x"")"`],
  [['-12.50', -3, '+598 99 123'], `-12.50,-3,'+598 99 123`],
  [[new Date('2026-11-22T02:00:00Z')], '2026-11-21 23:00:00'],
])('a line of CSV of %j', (values, line) => {
  expect(csvLine(values)).toBe(`${line}\r\n`);
});
