import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { removeSecondFactor } from '../../../../src/commands/people/changeSecondFactor.ts';
import { signInByOidc } from '../../../../src/commands/people/sessions.ts';
import { acceptInvitation, createUser, inviteUser } from '../../../../src/commands/people/users.ts';
import { totpCode } from '../../../../src/crypto/totp.ts';
import { Person } from '../../../../src/db/entities/people.ts';
import { OFFER_MILLISECONDS, SIGN_IN_LIMITS } from '../../../../src/domain/people/people.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import {
  type Browser,
  PASSWORD,
  type Shown,
  startConsole,
  type TestConsole,
  type TestPerson,
} from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aPepper } from '../../../support/database/pepper.ts';

const PATH = '/me/second-factor';
const ENGLISH = { 'accept-language': 'en' };
const WRONG = 'The password or the code is wrong';
const GONE = 'That key has expired';

const peppers = [aPepper('old')] as const;
let db: TestDatabase;
let site: TestConsole;
let account: string;
const attempts: string[] = [];
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm, { peppers, onSignIn: (outcome) => attempts.push(outcome) });
  account = await anAccount(db.orm);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

let networks = 0;
/** Headers of a browser in a network of its own, as a proxy tells. */
const elsewhere = () => ({ ...ENGLISH, 'x-forwarded-for': `198.51.100.${(networks += 1)}` });
const aMember = () => site.aMember(account, 'VIEWER');
const signedIn = (person: TestPerson): Promise<Browser> => site.as(person, elsewhere());

/** The key that a page shows, as an app takes it when it is typed. */
function keyIn({ text }: Shown): Buffer {
  const typed = /<code>([A-Z2-7]{32})<\/code>/.exec(text)?.[1] ?? '';
  const bits = Array.from(typed, (one) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'),
  ).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
const offeredIn = ({ text }: Shown): string => /name="offered" value="([^"]+)"/.exec(text)?.[1] ?? '';
/** A key, offered to who has no second factor so far. */
async function offer(browser: Browser): Promise<{ key: Buffer; offered: string }> {
  const shown = await browser.send(PATH, { password: PASSWORD });
  expect(shown.status).toBe(200);
  return { key: keyIn(shown), offered: offeredIn(shown) };
}
const codeOf = (key: Buffer): string => totpCode(key, site.deps.clock());
/** What a form that leads back says there. */
async function saidBy(browser: Browser, { to, status }: Shown): Promise<string> {
  expect([status, to]).toEqual([303, PATH]);
  return /<p class="flash[^>]*>([^<]*)/.exec((await browser.get(PATH)).text)?.[1] ?? '';
}
const personOf = ({ email }: TestPerson): Promise<Person> =>
  db.orm.em.fork().findOneOrFail(Person, { email });
const actsOf = ({ email }: TestPerson) =>
  db.orm.em
    .fork()
    .execute<{ actor: string; action: string; address: string | null }[]>(
      `select actor, action, address from audit where subject = ? and action like 'user.%second_factor'`,
      [email],
    );
/** Sets up a second factor; the person with it. */
async function setUp(browser: Browser, person: TestPerson): Promise<TestPerson> {
  const { key, offered } = await offer(browser);
  expect((await browser.send(PATH, { offered, code: codeOf(key) })).to).toBe(PATH);
  return { ...person, totp: key };
}

describe('setting up a second factor', () => {
  test('takes the password and the first code; all other sessions end, and signing in asks for codes from then on', async () => {
    const member = await aMember();
    const [here, there] = [await signedIn(member), await signedIn(member)];
    expect((await here.get('/me')).text).toContain(`href="${PATH}"`);
    const shown = await here.send(PATH, { password: PASSWORD });
    const key = keyIn(shown);
    expect(key).toHaveLength(20);
    expect(shown.text).toContain('<img src="data:image/svg+xml;base64,');
    expect(shown.headers.get('cache-control')).toBe('no-store');
    expect((await personOf(member)).sealedTotp).toBeNull();

    const wrong = await here.send(PATH, { offered: offeredIn(shown), code: '000000' });
    expect([wrong.status, keyIn(wrong).equals(key)]).toEqual([403, true]);
    expect(wrong.text).toContain('This is not the code that your app shows now.');
    expect((await personOf(member)).sealedTotp).toBeNull();

    const before = here.cookies.get('cfe_session') ?? '';
    const first = codeOf(key);
    const done = await here.send(PATH, { offered: offeredIn(wrong), code: first });
    expect(await saidBy(here, done)).toContain('The second factor is on');
    expect((await there.get('/me')).to).toMatch(/^\/sign-in/);
    const old = site.aBrowser(elsewhere());
    old.cookies.set('cfe_session', before);
    expect((await old.get('/me')).to).toMatch(/^\/sign-in/);
    const stored = JSON.stringify(await personOf(member));
    for (const form of ['base64', 'base64url', 'hex'] as const)
      expect(stored).not.toContain(key.toString(form));

    const next = site.aBrowser(elsewhere());
    expect((await next.send('/sign-in', { email: member.email, password: PASSWORD })).to).toMatch(/code/);
    // The code that was typed here is seen, and taken.
    expect((await next.send('/sign-in/code', { code: first })).status).toBe(403);
    expect((await next.send('/sign-in/code', { code: site.codeOf({ ...member, totp: key }) })).to).toBe('/');
    expect(await actsOf(member)).toEqual([
      {
        actor: `console:${member.email}`,
        action: 'user.set_second_factor',
        address: expect.stringMatching(/^198\.51\.100\./),
      },
    ]);
    for (const secret of [PASSWORD, offeredIn(shown), first])
      expect(JSON.stringify(site.lines)).not.toContain(secret);
  });

  test('shows nothing to who does not know the password', async () => {
    const member = await aMember();
    const browser = await signedIn(member);
    for (const password of ['', 'not this one, surely']) {
      const shown = await browser.send(PATH, { password });
      expect(shown.text).not.toContain('otpauth');
      expect(await saidBy(browser, shown)).toContain(WRONG);
    }
    expect(await actsOf(member)).toEqual([]);
  });

  test('takes only what was offered in this session, unchanged, not long ago, and once', async () => {
    const [member, thief] = [await aMember(), await aMember()];
    const [browser, sameElsewhere, other] = [
      await signedIn(member),
      await signedIn(member),
      await signedIn(thief),
    ];
    const own = await offer(browser);
    const forged = (text: string) => `${text[0] === 'A' ? 'B' : 'A'}${text.slice(1)}`;
    // What the thief, and the same person elsewhere, know the codes of.
    const [planted, elsewhere2] = [await offer(other), await offer(sameElsewhere)];
    const { totpSecrets } = site.deps;
    const sealedAtRest = totpSecrets.seal(planted.key, (await personOf(member)).id);
    for (const [offered, key] of [
      [planted.offered, planted.key],
      [elsewhere2.offered, elsewhere2.key],
      [forged(own.offered), own.key],
      [sealedAtRest, planted.key],
      ['x', own.key],
      ['', own.key],
    ] as const)
      expect([
        offered,
        await saidBy(browser, await browser.send(PATH, { offered, code: codeOf(key) })),
      ]).toEqual([offered, expect.stringContaining(GONE)]);
    expect((await personOf(member)).sealedTotp).toBeNull();

    const late = await offer(browser);
    site.pass(OFFER_MILLISECONDS);
    const tooLate = await browser.send(PATH, { offered: late.offered, code: codeOf(late.key) });
    expect(await saidBy(browser, tooLate)).toContain(GONE);

    const { key, offered } = await offer(browser);
    await browser.send(PATH, { offered, code: codeOf(key) });
    const again = await browser.send(PATH, { offered, code: site.codeOf({ ...member, totp: key }) });
    expect(await saidBy(browser, again)).toContain(GONE);
    expect(await actsOf(member)).toHaveLength(1);
  });

  test('of two at the same instant one is taken', async () => {
    const member = await aMember();
    const browser = await signedIn(member);
    const offers = [await offer(browser), await offer(browser), await offer(browser)];
    const form_token = /name="form_token" value="([^"]+)"/.exec((await browser.get('/help')).text)?.[1] ?? '';
    const was = [...browser.cookies];
    const rivals = offers.map(() => {
      const rival = site.aBrowser(elsewhere());
      for (const [name, value] of was) rival.cookies.set(name, value);
      return rival;
    });
    await Promise.all(
      rivals.map((rival, i) => {
        const { key = Buffer.alloc(0), offered = '' } = offers[i] ?? {};
        return rival.post(PATH, { offered, code: codeOf(key), form_token });
      }),
    );
    const entered = await Promise.all(rivals.map(async (rival) => (await rival.get('/me')).status === 200));
    expect(entered.filter(Boolean)).toHaveLength(1);
    expect(await actsOf(member)).toHaveLength(1);
    const { sealedTotp, id } = await personOf(member);
    const held = site.deps.totpSecrets.open(sealedTotp ?? '', id);
    expect(held.equals(offers[entered.indexOf(true)]?.key ?? Buffer.alloc(0))).toBe(true);
  });
});

describe('replacing it', () => {
  test('takes a code of the present one besides, which is good for nothing else; until the new one has shown a code nothing changes', async () => {
    const operator = await site.anOperator('ADMIN');
    const browser = await signedIn(operator);
    for (const code of ['', '000000'])
      expect(await saidBy(browser, await browser.send(PATH, { password: PASSWORD, code }))).toContain(WRONG);
    const present = site.codeOf(operator);
    const wrongPassword = await browser.send(PATH, { password: 'not this one, surely', code: present });
    expect(await saidBy(browser, wrongPassword)).toContain(WRONG);
    const shown = await browser.send(PATH, { password: PASSWORD, code: present });
    expect(shown.status).toBe(200);
    const replayed = await browser.send(PATH, { password: PASSWORD, code: present });
    expect(await saidBy(browser, replayed)).toContain(WRONG);
    // Nobody confirmed: the old telephone still signs in.
    expect((await (await signedIn(operator)).get('/audit')).status).toBe(200);

    const key = keyIn(shown);
    const done = await browser.send(PATH, { offered: offeredIn(shown), code: codeOf(key) });
    expect(await saidBy(browser, done)).toContain('The second factor is on');
    expect((await browser.get('/audit')).status).toBe(200);
    const next = site.aBrowser(elsewhere());
    await next.send('/sign-in', { email: operator.email, password: PASSWORD });
    expect((await next.send('/sign-in/code', { code: site.codeOf(operator) })).status).toBe(403);
    expect((await next.send('/sign-in/code', { code: site.codeOf({ ...operator, totp: key }) })).to).toBe(
      '/',
    );
  });
});

describe('turning it off', () => {
  test('takes password and code, and ends all other sessions', async () => {
    const browser = await signedIn(await aMember());
    const bare = await aMember();
    const none = await signedIn(bare);
    expect((await none.get(PATH)).text).not.toContain(`${PATH}/off`);
    const nothing = await none.send(`${PATH}/off`, { password: PASSWORD });
    expect(await saidBy(none, nothing)).toContain('already off');

    const member = await setUp(none, bare);
    const there = await signedIn(member);
    expect((await none.get(PATH)).text).toContain(`${PATH}/off`);
    for (const fields of [
      { password: PASSWORD, code: '' },
      { password: PASSWORD, code: '000000' },
      { password: 'not this one, surely', code: site.codeOf(member) },
    ])
      expect(await saidBy(none, await none.send(`${PATH}/off`, fields))).toContain(WRONG);
    const done = await none.send(`${PATH}/off`, { password: PASSWORD, code: site.codeOf(member) });
    expect(await saidBy(none, done)).toContain('is off');
    expect((await there.get('/me')).to).toMatch(/^\/sign-in/);
    expect((await browser.get('/me')).status).toBe(200);
    expect((await actsOf(member)).map(({ action }) => action)).toEqual([
      'user.set_second_factor',
      'user.remove_second_factor',
    ]);
    const next = site.aBrowser(elsewhere());
    expect((await next.send('/sign-in', { email: member.email, password: PASSWORD })).to).toBe('/');
  });

  test('is refused to operators, also to one who became one meanwhile', async () => {
    const operator = await site.anOperator('VIEWER');
    const browser = await signedIn(operator);
    expect((await browser.get(PATH)).text).not.toContain(`${PATH}/off`);
    const off = { password: PASSWORD, code: site.codeOf(operator) };
    expect((await browser.send(`${PATH}/off`, off)).status).toBe(403);

    const bare = await aMember();
    const theirs = await signedIn(bare);
    const member = await setUp(theirs, bare);
    await db.orm.em.fork().nativeUpdate(Person, { email: member.email }, { operatorRole: 'SUPPORT' });
    const { id, email } = await personOf(member);
    const place = {
      address: '203.0.113.9',
      browser: '',
      network: '203.0.113.9',
      site: '203.0.113.9',
      knownBrowser: null,
    };
    const proof = { password: PASSWORD, code: site.codeOf(member) };
    const session = { id, personId: id, email };
    await expect(removeSecondFactor(site.deps, session, proof, place)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      faults: [{ code: 'second_factor.needed' }],
    });
    for (const one of [operator, member]) expect((await personOf(one)).sealedTotp).not.toBeNull();
  });
});

describe('nobody becomes more by it', () => {
  test('who was made an operator needs the link of the invitation: a password alone sets up no second factor', async () => {
    const member = await aMember();
    const browser = await signedIn(member);
    const { key, offered } = await offer(browser);
    await createUser(site.deps, { email: member.email, operatorRole: 'ADMIN' });
    expect((await browser.get(PATH)).text).not.toContain('type="password"');
    expect((await browser.send(PATH, { password: PASSWORD })).status).toBe(403);
    // Nor what was offered before.
    expect((await browser.send(PATH, { offered, code: codeOf(key) })).status).toBe(403);
    expect((await personOf(member)).sealedTotp).toBeNull();
    expect((await browser.get('/audit')).status).toBe(403);
  });

  test('nor does one that a member set up themselves make them an operator', async () => {
    const bare = await aMember();
    const browser = await signedIn(bare);
    const member = await setUp(browser, bare);
    const { invitation } = await createUser(site.deps, { email: member.email, operatorRole: 'ADMIN' });
    expect(invitation).not.toBeNull();
    expect((await browser.get('/audit')).to).toMatch(/^\/sign-in/);
    const again = site.aBrowser(elsewhere());
    expect((await again.send('/sign-in', { email: member.email, password: PASSWORD })).status).toBe(403);
    // An operator who becomes something else as operator stays signed in.
    const operator = await site.anOperator('VIEWER');
    const theirs = await signedIn(operator);
    expect(
      (await createUser(site.deps, { email: operator.email, operatorRole: 'ADMIN' })).invitation,
    ).toBeNull();
    expect((await theirs.get('/audit')).status).toBe(200);
  });

  test('who comes by the OpenID provider is offered none, and gets none', async () => {
    const email = 'proveedor@example.com';
    const identity = { subject: 'https://id.example 1', email, emailVerified: true } as const;
    const place = { address: '203.0.113.9', browser: '' };
    const token = await signInByOidc(site.deps, { ...identity, operatorRole: 'ADMIN' }, place);
    const browser = site.aBrowser(elsewhere());
    browser.cookies.set('cfe_session', token);
    expect((await browser.get('/me')).text).not.toContain(PATH);
    expect((await browser.get(PATH)).text).not.toContain('type="password"');
    expect((await browser.send(PATH, { password: PASSWORD })).status).toBe(403);
    expect((await personOf({ email, totp: null })).sealedTotp).toBeNull();
  });
});

describe('guessing with somebody’s session', () => {
  const refusedTimes = (browser: Browser, path: string, fields: Record<string, string>, times: number) =>
    Array.from({ length: times }).reduce<Promise<unknown>>(
      (before) => before.then(() => browser.send(path, fields)),
      Promise.resolve(),
    );
  const guess = { password: 'not this one, surely' };

  test.each([
    [PATH, guess],
    ['/me/password', { old: guess.password, password: 'cuatro palabras mas largas' }],
  ])('at %s is counted with attempts to sign in, and stopped', async (path, fields) => {
    const member = await aMember();
    const browser = await signedIn(member);
    attempts.length = 0;
    await refusedTimes(browser, path, fields, SIGN_IN_LIMITS.browser);
    expect(attempts).toEqual(Array.from({ length: SIGN_IN_LIMITS.browser }, () => 'refused'));
    // Now the right one is refused too, here and at the sign-in of this browser.
    await browser.send(PATH, { password: PASSWORD });
    expect((await browser.get(PATH)).text).toMatch(/Too many attempts\. Try again in \d+ min\./);
    expect(attempts.at(-1)).toBe('limited');
    const again = { email: member.email, password: PASSWORD };
    const signIn = site.aBrowser(elsewhere());
    signIn.cookies.set('cfe_browser', browser.cookies.get('cfe_browser') ?? '');
    expect((await signIn.send('/sign-in', again)).status).toBe(429);
    // Others, and their owner elsewhere, notice nothing.
    expect((await site.aBrowser(elsewhere()).send('/sign-in', again)).status).toBe(303);
    site.pass(SIGN_IN_LIMITS.seconds * 1_000);
    expect((await browser.send(PATH, { password: PASSWORD })).status).toBe(200);
  });

  test('of first codes is counted too; what is right is no failure', async () => {
    const browser = await signedIn(await aMember());
    const { key, offered } = await offer(browser);
    await refusedTimes(browser, PATH, { offered, code: '000000' }, SIGN_IN_LIMITS.browser);
    const stopped = await browser.send(PATH, { offered, code: codeOf(key) });
    expect(await saidBy(browser, stopped)).toContain('Too many attempts');

    const busy = await signedIn(await aMember());
    for (let i = 0; i < SIGN_IN_LIMITS.browser + 5; i += 1) await offer(busy);
  });
});

test('who lost password or telephone is told whom to ask, where they come to a stop', async () => {
  const nobody = site.aBrowser(elsewhere());
  const operator = await site.anOperator('VIEWER');
  const halfway = site.aBrowser(elsewhere());
  await halfway.send('/sign-in', { email: operator.email, password: PASSWORD });
  const member = await signedIn(await aMember());
  for (const [browser, path, sentence] of [
    [nobody, '/sign-in', 'Ask support for a new link. The owner of your account can ask for you.'],
    [halfway, '/sign-in/code', 'Ask support for a new link. The owner of your account can ask for you.'],
    [member, '/members', 'asks support for a new link; an owner may ask, too.'],
    [member, PATH, 'Ask support for a link to set up both again.'],
  ] as const)
    expect([path, (await browser.get(path)).text]).toEqual([path, expect.stringContaining(sentence)]);
  expect((await nobody.get('/sign-in', { 'accept-language': 'es' })).text).toContain(
    'Pida un enlace nuevo a soporte. El titular de su cuenta puede pedirlo por usted.',
  );
});

test('under a new pepper a code of the app is good as before; signing in by it seals the secret anew', async () => {
  const operator = await site.anOperator('VIEWER');
  await createUser(site.deps, { email: 'invitada@example.com', operatorRole: 'VIEWER' });
  const { token } = (await inviteUser(site.deps, { email: 'invitada@example.com' })).invitation;
  const secret = site.deps.totpSecrets.ofInvitation(token);
  await using rotated = await startConsole(db.orm, { peppers: [aPepper('fresh'), ...peppers] });
  // Its clock is as far ahead: no code is taken that is older than the last one.
  rotated.pass(site.deps.clock().getTime() - Date.now());
  expect((await personOf(operator)).sealedTotp).toMatch(/^old\./);

  const browser = await rotated.as(operator, elsewhere());
  expect((await browser.get('/me')).status).toBe(200);
  expect((await personOf(operator)).sealedTotp).toMatch(/^fresh\./);

  // Who took the secret of an invitation over before, joins by it.
  const code = totpCode(secret, rotated.deps.clock());
  const person = await acceptInvitation(rotated.deps, { token, password: PASSWORD, code });
  expect(rotated.deps.totpSecrets.open(person.sealedTotp ?? '', person.id)).toEqual(secret);
});
