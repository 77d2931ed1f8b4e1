import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import Provider from 'oidc-provider';
import { acceptInvitation, createUser, disableUser } from '../../../../src/commands/people/users.ts';
import { createOidc } from '../../../../src/console/access/oidc.ts';
import { totpCode } from '../../../../src/crypto/totp.ts';
import { Person } from '../../../../src/db/entities/people.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import { type Browser, PASSWORD, startConsole, type TestConsole } from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';

const CONSOLE = 'http://127.0.0.1:3001';
const SECRET = 'a secret of the client, long enough';

/** What the provider says of a person, by subject. */
const claims = new Map<string, Record<string, unknown>>();
let db: TestDatabase;
let site: TestConsole;
let server: Server;
let subject = '';

beforeAll(async () => {
  db = await cloneDatabase();
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'console',
        client_secret: SECRET,
        redirect_uris: [`${CONSOLE}/sign-in/oidc/return`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified', 'cfe_role'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/login/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...claims.get(id) }) }),
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: 'console',
        accountId: ctx.oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    // The login page of the provider: whoever comes is `subject`.
    if (request.url?.startsWith('/login/')) {
      void provider.interactionFinished(request, response, { login: { accountId: subject } });
    } else void answer(request, response);
  });
  site = await startConsole(db.orm, {
    oidc: createOidc({
      issuer,
      clientId: 'console',
      clientSecret: SECRET,
      roleClaim: 'cfe_role',
      consoleUrl: CONSOLE,
      allowHttp: true,
    }),
  });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** Goes through the provider as somebody; the path, with its query, by which it sends them back. */
async function throughProvider(browser: Browser, as: string, to = '/'): Promise<string> {
  subject = as;
  let next = (await browser.get(`/sign-in/oidc?to=${encodeURIComponent(to)}`)).to ?? '';
  const cookies = new Map<string, string>();
  for (let hops = 0; !next.startsWith(CONSOLE); hops += 1) {
    if (hops > 10) throw new Error(`the provider leads in circles: ${next}`);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response: Response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const where = response.headers.get('location');
    if (where === null) throw new Error(`${response.status} ${await response.text()}`);
    next = new URL(where, next).href;
  }
  return next.slice(CONSOLE.length);
}

async function enter(
  as: string,
  to?: string,
): Promise<{ browser: Browser; status: number; to: string | null }> {
  const browser = site.aBrowser();
  const { status, to: where } = await browser.get(await throughProvider(browser, as, to));
  return { browser, status, to: where };
}

test('an operator comes by the provider, without a code of ours, as what the claim says each time', async () => {
  claims.set('ana', {
    email: 'ana@example.com',
    email_verified: true,
    cfe_role: ['other', 'VIEWER', 'SUPPORT'],
  });
  const first = await enter('ana', '/me');
  expect(first).toMatchObject({ status: 303, to: '/me' });
  expect((await first.browser.get('/me')).text).toContain('Operador, soporte');

  claims.set('ana', { email: 'ana@example.com', email_verified: true, cfe_role: 'VIEWER' });
  expect((await (await enter('ana')).browser.get('/me')).text).toContain('Operador, solo lectura');
  // The session of before is no more than that either.
  expect((await first.browser.get('/me')).text).toContain('Operador, solo lectura');

  claims.set('ana', { email: 'ana@example.com', email_verified: true });
  expect((await enter('ana')).status).toBe(403);
  expect((await first.browser.get('/me')).status).toBe(403);
  const rows = await db.orm.em
    .fork()
    .execute(`select actor from audit where action = 'user.sign_in' and subject = 'ana@example.com'`);
  expect(rows).toEqual([{ actor: 'console:ana@example.com' }, { actor: 'console:ana@example.com' }]);
});

test('whoever has no role, no proven address, or was disabled here does not come in', async () => {
  claims.set('beto', { email: 'beto@example.com', email_verified: true, cfe_role: 'OWNER' });
  claims.set('caro', { email: 'caro@example.com', email_verified: false, cfe_role: 'ADMIN' });
  claims.set('dani', { email: 'dani@example.com', email_verified: true, cfe_role: 'ADMIN' });
  expect((await enter('beto')).status).toBe(403);
  expect((await enter('caro')).status).toBe(403);
  expect((await enter('dani')).status).toBe(303);
  await disableUser(site.deps, { email: 'dani@example.com' });
  expect((await enter('dani')).status).toBe(403);
  const dani = await db.orm.em.fork().findOneOrFail(Person, { email: 'dani@example.com' });
  expect(dani.operatorRole).toBeNull();
});

test('who was dismissed is not let in again over the console, where a claim that still stands would make them an operator', async () => {
  const email = 'hugo@example.com';
  claims.set('hugo', { email, email_verified: true, cfe_role: 'ADMIN' });
  expect((await enter('hugo')).status).toBe(303);
  await disableUser({ ...site.deps, actor: 'cli:ana' }, { email });
  const [admin, account] = [await site.as(await site.anOperator('ADMIN')), await anAccount(db.orm)];

  const added = await admin.send(`/accounts/${account}/people`, { email, role: 'VIEWER' });

  expect(added.status).toBe(403);
  expect(added.text).toContain('Solo se la puede habilitar por la línea de comandos.');
  expect((await enter('hugo')).status).toBe(403);
  expect(await db.orm.em.fork().findOneOrFail(Person, { email })).toMatchObject({
    operatorRole: null,
    disabledAt: expect.any(Date),
  });
});

test('a link from before somebody came by the provider gives them no password', async () => {
  const { invitation } = await createUser(site.deps, {
    email: 'fabi@example.com',
    accountId: await anAccount(db.orm),
    role: 'VIEWER',
  });
  claims.set('fabi', { email: 'fabi@example.com', email_verified: true, cfe_role: 'ADMIN' });
  await enter('fabi');

  const token = invitation?.token ?? '';
  const code = totpCode(site.deps.totpSecrets.ofInvitation(token), site.deps.clock());
  await expect(acceptInvitation(site.deps, { token, password: PASSWORD, code })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(
    (await db.orm.em.fork().findOneOrFail(Person, { email: 'fabi@example.com' })).passwordHash,
  ).toBeNull();
});

test('a user here becomes that of the provider, and has no password from then on; another of the same address does not', async () => {
  const operator = await site.anOperator('ADMIN');
  claims.set('eva', { email: operator.email, email_verified: true, cfe_role: 'VIEWER' });
  claims.set('false eva', { email: operator.email, email_verified: true, cfe_role: 'ADMIN' });
  expect((await enter('eva')).status).toBe(303);
  expect((await enter('false eva')).status).toBe(403);
  const byPassword = await site
    .aBrowser()
    .send('/sign-in', { email: operator.email, password: 'cuatro palabras bien largas' });
  expect(byPassword.status).toBe(403);
});

test('an answer is good in the browser that asked for it, once, with its state, nonce and verifier', async () => {
  claims.set('fede', { email: 'fede@example.com', email_verified: true, cfe_role: 'ADMIN' });
  const [victim, attacker] = [site.aBrowser(), site.aBrowser()];
  const back = await throughProvider(attacker, 'fede');
  // Signing somebody in as oneself: their browser has asked for nothing.
  expect((await victim.get(back)).status).toBe(403);
  await throughProvider(victim, 'fede');
  expect((await victim.get(back)).status).toBe(403);
  expect((await attacker.get(back)).to).toBe('/');
  expect((await attacker.get(back)).status).toBe(403);
});

test('where it leads afterwards is here', async () => {
  claims.set('gabi', { email: 'gabi@example.com', email_verified: true, cfe_role: 'ADMIN' });
  expect((await enter('gabi', 'https://evil.example/')).to).toBe('/');
});

test('a provider that is away is said to be, in the reader’s language', async () => {
  const oidc = createOidc({
    issuer: 'http://127.0.0.1:9',
    clientId: 'console',
    clientSecret: SECRET,
    roleClaim: 'cfe_role',
    consoleUrl: CONSOLE,
    allowHttp: true,
  });
  await using away = await startConsole(db.orm, { oidc });
  const told = async (language: string) =>
    (await away.aBrowser().get('/sign-in/oidc', { 'accept-language': language })).text;
  expect(await told('es')).toContain('El ingreso de su organización no responde en este momento.');
  expect(await told('en')).toContain('Your organisation’s sign-in is not responding at the moment.');
});
