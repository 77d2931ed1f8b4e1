import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { changeMemberRole, removeMember } from '../../../../src/commands/people/members.ts';
import { acceptInvitation, createUser } from '../../../../src/commands/people/users.ts';
import { Payment } from '../../../../src/db/entities/enterprises.ts';
import { AuditEntry } from '../../../../src/db/entities/operations.ts';
import { ApiKey, Membership } from '../../../../src/db/entities/people.ts';
import { listMembers } from '../../../../src/db/people/accounts.ts';
import { findPerson } from '../../../../src/db/people/people.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import {
  type Browser,
  formTokenIn,
  PASSWORD,
  startConsole,
  type TestConsole,
  type TestPerson,
} from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';

let db: TestDatabase;
let site: TestConsole;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm, { consoleUrl: 'http://127.0.0.1:3001' });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const hidden = (text: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
const onceIn = (text: string): string => /<code class="once"[^>]*>([^<]+)<\/code>/.exec(text)?.[1] ?? '';
async function anOwner(): Promise<{ accountId: string; owner: TestPerson; browser: Browser }> {
  const accountId = await anAccount(db.orm);
  const owner = await site.aMember(accountId, 'OWNER');
  return { accountId, owner, browser: await site.as(owner) };
}

/** Sends the form as it stands on the page. */
async function sendFrom(browser: Browser, page: string, action: string, fields: Record<string, string>) {
  const { text } = await browser.get(page, { 'accept-language': 'en' });
  return browser.post(action, { form_token: formTokenIn(text), ...fields }, { 'accept-language': 'en' });
}

const roleOf = async (accountId: string, email: string): Promise<string | undefined> =>
  (await listMembers(db.orm.em.fork(), accountId)).find((one) => one.email === email)?.role;

test('a key is shown once: in the answer to its form and nowhere else, and the form sent again makes no other', async () => {
  const { accountId, owner, browser } = await anOwner();
  const { text: page } = await browser.get('/keys');
  const fields = {
    form_token: formTokenIn(page),
    account: accountId,
    once: hidden(page, 'once'),
    label: 'Caja 1',
    environment: 'sandbox',
    scope: 'full',
  };
  const made = await browser.post('/keys', fields, { 'accept-language': 'en' });
  const key = onceIn(made.text);
  expect(made.status).toBe(200);
  expect(key).toMatch(/^cfe_test_/);
  expect(made.headers.get('cache-control')).toBe('no-store');
  expect(made.headers.getSetCookie().join()).not.toContain(key);

  // Reloading sends the form once more.
  const again = await browser.post('/keys', fields, { 'accept-language': 'en' });
  expect(again.to).toBe(`/keys?account=${accountId}`);
  const { text: list } = await browser.get(again.to ?? '', { 'accept-language': 'en' });
  expect(list).toContain('was already created');
  expect(list).toContain(key.slice(0, 'cfe_test_'.length + 12));
  for (const text of [list, again.text, JSON.stringify(site.lines)]) expect(text).not.toContain(key);
  const keys = await db.orm.em.fork().find(ApiKey, { accountId });
  expect(keys).toHaveLength(1);
  expect(JSON.stringify(keys)).not.toContain(key);
  const acts = await db.orm.em.fork().find(AuditEntry, { accountId, action: 'api_key.create' });
  expect(acts.map(({ actor, subject }) => [actor, subject])).toEqual([
    [`console:${owner.email}`, fields.once],
  ]);
  expect(
    JSON.stringify(acts, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
  ).not.toContain(key);
});

test('a form sent twice at once makes one key: one answer shows it, the other says what to do without it', async () => {
  const { accountId, browser } = await anOwner();
  const { text: page } = await browser.get('/keys');
  const fields = {
    form_token: formTokenIn(page),
    account: accountId,
    once: hidden(page, 'once'),
    label: 'Caja 1',
    environment: 'sandbox',
    scope: 'full',
  };
  const answers = await Promise.all(
    [1, 2, 3].map(() => browser.post('/keys', fields, { 'accept-language': 'en' })),
  );
  const shown = answers.filter(({ status }) => status === 200);
  const told = answers.filter(({ to }) => to === `/keys?account=${accountId}`);
  expect([shown.length, told.length]).toEqual([1, 2]);
  expect(await db.orm.em.fork().count(ApiKey, { accountId })).toBe(1);
  const { text } = await browser.get(told[0]?.to ?? '', { 'accept-language': 'en' });
  expect(text).toContain('If you did not copy it, revoke or delete it and create another.');
  expect(text).not.toContain(onceIn(shown[0]?.text ?? ''));
});

test('a key is revoked with a reason, by an OWNER of its own account alone', async () => {
  const { accountId, browser } = await anOwner();
  const { text } = await browser.get('/keys');
  const once = hidden(text, 'once');
  const key = { account: accountId, once, label: 'Caja 2', environment: 'production', scope: 'full' };
  await sendFrom(browser, '/keys', '/keys', key);
  const stranger = await anOwner();
  const taken = { account: stranger.accountId, reason: 'mine' };
  await sendFrom(stranger.browser, '/keys', `/keys/${once}/revoke`, taken);
  const member = await site.as(await site.aMember(accountId, 'MEMBER'));
  const refused = await sendFrom(member, '/me', `/keys/${once}/revoke`, { account: accountId, reason: 'no' });
  expect(refused.status).toBe(403);
  expect((await member.get('/keys')).text).not.toContain('/revoke');
  const em = db.orm.em.fork();
  expect((await em.findOneOrFail(ApiKey, { id: once })).revokedAt).toBeNull();

  const done = await sendFrom(browser, '/keys', `/keys/${once}/revoke`, {
    account: accountId,
    reason: 'Se filtró',
  });
  expect(done.to).toBe(`/keys?account=${accountId}`);
  expect((await em.refreshOrFail(await em.findOneOrFail(ApiKey, { id: once }))).revokedAt).not.toBeNull();
  const [act] = await em.find(AuditEntry, { subject: once, action: 'api_key.revoke' });
  expect(act?.reason).toBe('Se filtró');
});

/** Invites as an OWNER does; the path of the link. */
async function invited(browser: Browser, accountId: string, email: string, role: string): Promise<string> {
  const shown = await sendFrom(browser, '/members', '/members', { account: accountId, email, role });
  const link = onceIn(shown.text);
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:3001\/join\//);
  return new URL(link).pathname;
}

test('somebody new comes in by a link that works once, and is nothing before', async () => {
  const { accountId, browser } = await anOwner();
  const path = await invited(browser, accountId, 'Nueva@Example.com', 'MEMBER');
  expect(await findPerson(db.orm.em.fork(), 'nueva@example.com')).toBeNull();
  expect((await browser.get('/members')).text).toContain('nueva@example.com');
  const theirs = site.aBrowser();
  const join = { password: PASSWORD, code: '' };
  const [one, two] = await Promise.all([
    sendFrom(theirs, path, path, join),
    sendFrom(site.aBrowser(), path, path, join),
  ]);
  const ends = [one.to, two.to].toSorted((a, b) => String(a).localeCompare(String(b)));
  expect(ends).toEqual([path, '/sign-in']);
  expect(await roleOf(accountId, 'nueva@example.com')).toBe('MEMBER');
  expect((await theirs.get(path)).status).toBe(404);
  const entered = await theirs.send('/sign-in', { email: 'nueva@example.com', password: PASSWORD });
  expect(entered.to).toBe('/');
  const acts = await db.orm.em.fork().find(AuditEntry, { accountId, subject: 'nueva@example.com' });
  expect(acts.map(({ action }) => action)).toEqual(['member.invite', 'member.join']);
});

test('a link hands nobody over: who has something here accepts it signed in as themselves', async () => {
  const ours = await anOwner();
  const theirs = await anOwner();
  const path = await invited(ours.browser, ours.accountId, theirs.owner.email, 'VIEWER');
  // The one who made the link tries to set the password of the invited.
  const shown = await ours.browser.get(path, { 'accept-language': 'en' });
  expect(shown.text).not.toContain('type="password"');
  const taken = await sendFrom(ours.browser, path, path, { password: 'otra clave muy larga', code: '' });
  expect(taken.status).toBe(403);
  const asOther = await sendFrom(ours.browser, '/me', path, {});
  expect(asOther.status).toBe(403);
  expect(await roleOf(ours.accountId, theirs.owner.email)).toBeUndefined();
  expect((await theirs.browser.get('/me')).status).toBe(200);

  const accepted = await sendFrom(theirs.browser, path, path, {});
  expect(accepted.to).toBe('/');
  expect(await roleOf(ours.accountId, theirs.owner.email)).toBe('VIEWER');
});

test('an operator who has not come in yet cannot be taken over by an account’s link', async () => {
  const { accountId, browser } = await anOwner();
  await createUser(site.deps, { email: 'jefa@operador.example', operatorRole: 'ADMIN' });
  const path = await invited(browser, accountId, 'jefa@operador.example', 'VIEWER');
  const taken = await sendFrom(site.aBrowser(), path, path, { password: PASSWORD, code: '' });
  expect(taken.status).toBe(403);
  expect((await findPerson(db.orm.em.fork(), 'jefa@operador.example'))?.passwordHash).toBeNull();
});

test('who came in by an account’s link is asked for a new password before they are anything else', async () => {
  const { accountId, browser } = await anOwner();
  const path = await invited(browser, accountId, 'gerente@banco.example', 'OWNER');
  await sendFrom(site.aBrowser(), path, path, { password: PASSWORD, code: '' });
  const person: TestPerson = { email: 'gerente@banco.example', totp: null };
  const planted = await site.as(person);
  expect((await planted.get('/keys')).status).toBe(200);
  // An operator makes that address somebody: whoever sits there with the old password is out.
  const { invitation } = await createUser(site.deps, { email: person.email, operatorRole: 'SUPPORT' });
  expect((await planted.get('/')).to).toMatch(/^\/sign-in/);
  const entered = await planted.send('/sign-in', { email: person.email, password: PASSWORD });
  expect(entered.text).toContain('role="alert"');
  expect(invitation).not.toBeNull();
  const accept = { token: invitation?.token ?? '', password: PASSWORD, code: '' };
  await expect(acceptInvitation(site.deps, accept)).rejects.toThrow(/code/);
});

test('roles change and people go, but the last OWNER stays, also of two who are demoted at once', async () => {
  const { accountId, owner, browser } = await anOwner();
  const second = await site.aMember(accountId, 'OWNER');
  const idOf = async (email: string): Promise<string> =>
    (await findPerson(db.orm.em.fork(), email))?.id ?? '';
  const [first, other] = [await idOf(owner.email), await idOf(second.email)];
  const demote = (personId: string) =>
    changeMemberRole(site.deps, { accountId, personId, role: 'VIEWER' }).then(
      () => 'done',
      (error: Error) => error.message,
    );
  const ends = await Promise.all([demote(first), demote(other)]);
  expect(ends.filter((end) => end === 'done')).toHaveLength(1);
  const owners = await db.orm.em.fork().find(Membership, { accountId, role: 'OWNER' });
  expect(owners).toHaveLength(1);
  const last = owners[0]?.personId ?? '';
  await expect(removeMember(site.deps, { accountId, personId: last })).rejects.toThrow(/last OWNER/);
  await changeMemberRole(site.deps, { accountId, personId: first, role: 'OWNER' });
  await changeMemberRole(site.deps, { accountId, personId: other, role: 'VIEWER' });
  const told = await createUser(site.deps, { email: owner.email, accountId, role: 'MEMBER' }).catch(
    (error: Error) => error.message,
  );
  expect(told).toMatch(/last OWNER/);

  const removing = { account: accountId, reason: 'Cambió de trabajo' };
  const removed = await sendFrom(browser, '/members', `/members/${other}/remove`, removing);
  expect(removed.to).toBe(`/members?account=${accountId}`);
  expect(await roleOf(accountId, second.email)).toBeUndefined();
  const acts = await db.orm.em.fork().find(AuditEntry, { accountId, action: 'member.remove' });
  expect(acts.map(({ actor, reason }) => [actor, reason])).toEqual([
    [`console:${owner.email}`, 'Cambió de trabajo'],
  ]);
});

test('an account is chosen in the address, is remembered, and is never another’s', async () => {
  const ours = await anOwner();
  const second = await anAccount(db.orm);
  await createUser(site.deps, { email: ours.owner.email, accountId: second, role: 'VIEWER' });
  const foreign = await anOwner();
  expect((await ours.browser.get(`/keys?account=${foreign.accountId}`)).status).toBe(404);
  expect((await ours.browser.get(`/keys?account=${second}`)).text).not.toContain('name="once"');
  expect((await ours.browser.get('/keys')).text).not.toContain('name="once"');
  expect((await ours.browser.get(`/keys?account=${ours.accountId}`)).text).toContain('name="once"');
  expect((await ours.browser.get('/members')).text).toContain('/remove');
  const key = {
    account: second,
    once: crypto.randomUUID(),
    label: 'x',
    environment: 'production',
    scope: 'full',
  };
  const refused = await sendFrom(ours.browser, '/keys', '/keys', key);
  expect(refused.to).toBe(`/keys?account=${second}`);
  expect(await db.orm.em.fork().count(ApiKey, { accountId: second })).toBe(0);
});

test('an OWNER chooses a plan and pays; others, and at other enterprises, read', async () => {
  const { accountId, browser } = await anOwner();
  const rut = await anEnterprise(db.orm, accountId);
  const choice = { account: accountId, plan: '["STANDARD","MONTHLY"]' };
  expect((await browser.get('/plan')).text).toContain(rut);
  const chosen = await sendFrom(browser, `/plan/${rut}`, `/plan/${rut}`, choice);
  expect(chosen.to).toBe(`/plan/${rut}?account=${accountId}`);
  const [payment] = await db.orm.em.fork().find(Payment, { rut });
  const paying = `/plan/${rut}/payments/${payment?.id}`;
  expect((await browser.get(chosen.to ?? '')).text).toContain(`href="${paying}"`);
  expect((await browser.get(paying)).to).toBe(payment?.redirectUrl);
  const csv = (await browser.get(`/plan/${rut}?format=csv`)).text.split('\r\n');
  expect(csv[0]).toContain('created_at,plan_id,frequency_id,amount,currency,status,settled_at,payment_id');
  expect(csv[1]).toContain(
    `,STANDARD,MONTHLY,${Number(payment?.amount)},${payment?.currency},PENDING,,${payment?.id}`,
  );
  await sendFrom(browser, `/plan/${rut}`, `/plan/${rut}`, choice);
  expect(await db.orm.em.fork().count(Payment, { rut })).toBe(1);

  const member = await site.as(await site.aMember(accountId, 'MEMBER'));
  expect((await member.get(`/plan/${rut}`)).text).not.toContain('type="radio"');
  expect((await sendFrom(member, '/me', `/plan/${rut}`, choice)).status).toBe(403);
  const stranger = await anOwner();
  expect((await stranger.browser.get(`/plan/${rut}`)).status).toBe(404);
  await sendFrom(stranger.browser, '/me', `/plan/${rut}`, { ...choice, account: stranger.accountId });
  expect(await db.orm.em.fork().count(Payment, { rut })).toBe(1);
});
