import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createUser, disableUser } from '../../../../src/commands/people/users.ts';
import { EnterpriseGrant } from '../../../../src/db/entities/enterprises.ts';
import { AuditEntry } from '../../../../src/db/entities/operations.ts';
import { Account, ApiKey, Person, RateLimit } from '../../../../src/db/entities/people.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import {
  type Browser,
  PASSWORD,
  startConsole,
  type TestConsole,
  type TestPerson,
} from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';

let db: TestDatabase;
let site: TestConsole;
let admin: TestPerson;
let browser: Browser;
let account: string;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
  admin = await site.anOperator('ADMIN');
  browser = await site.as(admin);
  account = await anAccount(db.orm);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const lastAct = async () =>
  (await db.orm.em.fork().find(AuditEntry, {}, { orderBy: { id: 'desc' }, limit: 1 }))[0];

test('an ADMIN makes an account, and everything of it is audited with them', async () => {
  const made = await browser.send('/accounts', {
    name: 'Estudio <Nuevo>',
    email: 'nuevo@example.com',
    developer: 'yes',
  });
  const { id } = await db.orm.em
    .fork()
    .findOneOrFail(Account, { email: 'nuevo@example.com', isDeveloper: true });
  expect(made.to).toBe(`/accounts/${id}`);
  expect(await lastAct()).toMatchObject({
    action: 'account.create',
    subject: id,
    actor: `console:${admin.email}`,
  });
  const { text } = await browser.get('/accounts?text=NUEVO%3E');
  expect(text).toContain('Estudio &lt;Nuevo&gt;');
  expect((await browser.get('/accounts?text=%25')).text).not.toContain('Estudio');
  expect((await browser.send('/accounts', { name: ' ', email: 'x' })).to).toBe('/accounts');
  expect(await db.orm.em.fork().count(Account, { email: 'x' })).toBe(0);
});

test('limits and grants are set and taken back', async () => {
  const rut = await anEnterprise(db.orm, await anAccount(db.orm), { legalName: 'Ajena S.A.' });
  const reason = 'Lo pidió Ana';
  const limit = { environment: 'sandbox', per_hour: '7000' };
  // Without a reason nothing is done.
  for (const [act, fields] of [
    ['limit', limit],
    ['grants', { rut, role: 'MEMBER' }],
  ] as const)
    for (const nothing of [{}, { reason: ' ' }] as Record<string, string>[])
      await browser.send(`/accounts/${account}/${act}`, { ...fields, ...nothing });
  expect(await db.orm.em.fork().count(RateLimit, { accountId: account })).toBe(0);
  expect(await db.orm.em.fork().count(EnterpriseGrant, { rut })).toBe(0);
  await browser.send(`/accounts/${account}/limit`, { ...limit, reason });
  expect(await lastAct()).toMatchObject({ action: 'limit.set', reason });
  expect(await db.orm.em.fork().findOne(RateLimit, { accountId: account })).toMatchObject({
    environment: 'sandbox',
    perHour: 7_000,
  });
  expect((await browser.get(`/accounts/${account}`)).text).toContain('7.000');
  await browser.send(`/accounts/${account}/grants`, { rut, role: 'MEMBER', reason });
  expect(await lastAct()).toMatchObject({ action: 'grant.set', reason });
  expect((await browser.get(`/accounts/${account}`)).text).toContain('Ajena S.A.');
  expect((await browser.get(`/accounts/${account}?format=csv&list=enterprises`)).text).toContain(
    `${rut},Ajena S.A.,MEMBER`,
  );
  await browser.send(`/accounts/${account}/grants/${rut}/remove`, {});
  expect(await db.orm.em.fork().count(EnterpriseGrant, { rut })).toBe(1);
  await browser.send(`/accounts/${account}/grants/${rut}/remove`, { reason });
  expect(await lastAct()).toMatchObject({ action: 'grant.remove', reason });
  expect(await db.orm.em.fork().count(EnterpriseGrant, { rut })).toBe(0);
  for (const per_hour of ['0', '-1', '1e12', 'many', ''])
    expect(
      (await browser.send(`/accounts/${account}/limit`, { environment: 'sandbox', per_hour, reason })).to,
    ).toBe(`/accounts/${account}`);
  expect(await db.orm.em.fork().findOne(RateLimit, { accountId: account })).toMatchObject({ perHour: 7_000 });
});

test('a person is let in by a link that is shown once, invited anew, signed out, and disabled', async () => {
  const email = 'nueva.persona@example.com';
  const made = await browser.send(`/accounts/${account}/people`, { email, role: 'MEMBER' });
  const link = /\/invitation\/[\w-]{43}/.exec(made.text)?.[0] ?? '';
  expect([made.status, (await site.aBrowser().get(link)).status]).toEqual([200, 200]);
  expect((await browser.get(`/accounts/${account}`)).text).not.toContain(link);
  expect(JSON.stringify(site.lines)).not.toContain(link);

  const { id } = await db.orm.em.fork().findOneOrFail(Person, { email });
  const act = (what: string) => browser.send(`/accounts/${account}/people/${id}/${what}`, {});
  const reason = 'Dejó el estudio';
  const again = /\/invitation\/[\w-]{43}/.exec((await act('invite')).text)?.[0] ?? '';
  expect([(await site.aBrowser().get(link)).status, (await site.aBrowser().get(again)).status]).toEqual([
    404, 200,
  ]);

  const member = await site.aMember(account, 'VIEWER');
  const theirs = await site.as(member);
  const person = await db.orm.em.fork().findOneOrFail(Person, { email: member.email });
  await browser.send(`/accounts/${account}/people/${person.id}/end`, { reason });
  expect((await theirs.get('/')).to).toBe('/sign-in');
  await browser.send(`/accounts/${account}/people/${person.id}/disable`, { reason: '' });
  expect(await lastAct()).toMatchObject({ action: 'user.end_sessions', reason });
  await browser.send(`/accounts/${account}/people/${person.id}/disable`, { reason });
  expect((await site.aBrowser().send('/sign-in', { email: member.email, password: PASSWORD })).status).toBe(
    403,
  );
  expect(await lastAct()).toMatchObject({
    action: 'user.disable',
    reason,
    subject: member.email,
    actor: `console:${admin.email}`,
  });
});

describe('an operator', () => {
  /** An operator who belongs to the account as well, as the command line lets them. */
  async function aColleague(): Promise<{ colleague: TestPerson; id: string }> {
    const colleague = await site.anOperator('ADMIN');
    await createUser(site.deps, { email: colleague.email, accountId: account, role: 'VIEWER' });
    const { id } = await db.orm.em.fork().findOneOrFail(Person, { email: colleague.email });
    return { colleague, id };
  }

  test('is not let in, invited anew, signed out or disabled over the console, by no colleague and not by themselves', async () => {
    const { colleague, id } = await aColleague();
    const theirs = await site.as(colleague);
    const before = await db.orm.em.fork().findOneOrFail(Person, { id });
    const people = `/accounts/${account}/people`;
    for (const sender of [browser, theirs]) {
      const refused = [
        await sender.send(people, { email: colleague.email, role: 'OWNER' }),
        await sender.send(`${people}/${id}/invite`, {}),
        await sender.send(`${people}/${id}/disable`, { reason: 'x' }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
      for (const { text } of refused) expect(text).not.toContain('/invitation/');
    }
    const ended = await browser.send(`${people}/${id}/end`, { reason: 'x' });
    expect([ended.status, (await theirs.get('/me')).status]).toEqual([403, 200]);
    expect(ended.text).toContain('Esta persona es operador');
    expect(await db.orm.em.fork().findOneOrFail(Person, { id })).toEqual(before);
    expect((await browser.get(`/accounts/${account}`)).text).not.toContain(`${people}/${id}/`);
  });

  test('who was dismissed comes back as a member and nothing more', async () => {
    const { colleague, id } = await aColleague();
    await disableUser({ ...site.deps, actor: 'cli:ana' }, { email: colleague.email });

    const made = await browser.send(`/accounts/${account}/people`, {
      email: colleague.email,
      role: 'VIEWER',
    });
    const link = /\/invitation\/[\w-]{43}/.exec(made.text)?.[0] ?? '';
    const again = site.aBrowser();
    await again.send(link, { password: PASSWORD, code: '' }, link);
    await again.send('/sign-in', { email: colleague.email, password: PASSWORD });
    expect([(await again.get('/keys')).status, (await again.get('/accounts')).status]).toEqual([200, 403]);
    expect(await db.orm.em.fork().findOneOrFail(Person, { id })).toMatchObject({
      operatorRole: null,
      disabledAt: null,
    });
  });
});

test('nobody who is no member of the account is acted on by its page', async () => {
  const other = await site.aMember(await anAccount(db.orm), 'OWNER');
  const person = await db.orm.em.fork().findOneOrFail(Person, { email: other.email });
  await browser.send(`/accounts/${account}/people/${person.id}/disable`, { reason: 'x' });
  expect(await db.orm.em.fork().findOneOrFail(Person, { email: other.email })).toMatchObject({
    disabledAt: null,
  });
  expect((await browser.get('/accounts/00000000-0000-4000-8000-000000000000')).status).toBe(404);
});

test('keys are known by their ids and beginnings, never whole', async () => {
  await db.orm.em.fork().insert(ApiKey, {
    id: '4be0643f-1d98-4d3c-97cd-ca98a65347dd',
    publicId: 'k7Qm2',
    accountId: account,
    environment: 'production',
    scope: 'full',
    hash: Buffer.alloc(32, 'secret'),
    label: 'Caja 1',
    createdAt: new Date(),
    lastUsedAt: null,
    revokedAt: null,
  });
  const { text } = await browser.get(`/accounts/${account}`);
  expect(text).toContain('4be0643f-1d98-4d3c-97cd-ca98a65347dd');
  expect(text).toContain('cfe_live_k7Qm2');
  expect(text).not.toContain(Buffer.alloc(32, 'secret').toString('base64'));
});

test('who may only look is offered nothing to change', async () => {
  await createUser(site.deps, { email: 'x@example.com', accountId: account, role: 'VIEWER' });
  const viewer = await site.as(await site.anOperator('SUPPORT'));
  for (const path of ['/accounts', `/accounts/${account}`])
    expect((await viewer.get(path)).text).not.toContain('method="post" action="/accounts');
});
