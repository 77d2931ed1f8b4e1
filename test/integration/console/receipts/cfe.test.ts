import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { storeAttempts } from '../../../../src/db/authority/attempts.ts';
import { EnterpriseGrant } from '../../../../src/db/entities/enterprises.ts';
import { Mail } from '../../../../src/db/entities/mail.ts';
import { ApiKey } from '../../../../src/db/entities/people.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { Delivery, Event, Webhook } from '../../../../src/db/entities/webhooks.ts';
import type { AuthorityCallRecord } from '../../../../src/domain/authority/attempt.ts';
import type { CfeStatus } from '../../../../src/domain/receipts/cfeStatus.ts';
import type { Environment } from '../../../../src/domain/receipts/cfeTypes.ts';
import { anAccount, idleIssuing } from '../../../support/commandDeps.ts';
import {
  type Browser,
  formTokenIn,
  startConsole,
  type TestConsole,
} from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { anIssuer, giveCfes } from '../../../support/mail/receipts.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';
import { storeSubmission } from '../../../support/reports/submission.ts';

let db: TestDatabase;
let site: TestConsole;
let owners: string;
let guests: string;
let rut: string;
let cfe: Cfe;
let page: string;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
  const issuer = await anIssuer(db.orm);
  [owners, rut, guests] = [issuer.accountId, issuer.rut, await anAccount(db.orm)];
  await db.orm.em.fork().insert(EnterpriseGrant, { accountId: guests, rut, role: 'VIEWER' });
  const [given] = await giveCfes(db.orm, issuer, { status: 'ACCEPTED' });
  if (!given) throw new Error('no CFE was made');
  cfe = await db.orm.em.fork().findOneOrFail(Cfe, { id: given.id });
  page = `/cfes/${rut}/production/101-${cfe.sequence}`;
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const english = { 'accept-language': 'en' };
const shownTo = async (browser: Browser): Promise<string> => (await browser.get(page, english)).text;

async function aWebhook(accountId: string, url: string): Promise<string> {
  const id = randomUUID();
  await db.orm.em.fork().insert(Webhook, {
    id,
    accountId,
    url,
    events: ['cfe.updated'],
    sealedSecret: 'sealed',
    sealedPreviousSecret: null,
    previousSecretUntil: null,
    enabled: true,
    disabledReason: null,
    createdAt: new Date(),
    removedAt: null,
  });
  return id;
}

/** A failed delivery about a CFE with that cfe_id. */
async function aDelivery(webhookId: string, environment: Environment = 'production'): Promise<string> {
  const em = db.orm.em.fork();
  const [id, eventId, now] = [randomUUID(), randomUUID(), new Date()];
  const body = JSON.stringify({ event: 'cfe.updated', data: { cfe_id: `101-${cfe.sequence}` } });
  await em.insert(Event, { id: eventId, rut, name: 'cfe.updated', environment, body, createdAt: now });
  await em.insert(Delivery, {
    id,
    workflowId: `wh:${id}`,
    webhookId,
    eventId,
    eventName: 'cfe.updated',
    status: 'FAILED',
    nextAttemptAt: null,
    createdAt: now,
    settledAt: now,
  });
  return id;
}

test('the receiver’s page and the PDF on each paper are led to once the receipt may be handed over', async () => {
  const browser = await site.as(await site.aMember(owners, 'VIEWER'));
  const leadingOut = (text: string): string[] =>
    [...text.matchAll(/<a href="(https:[^"]+)" rel="noreferrer"/g)].map(([, to = '']) => to);
  const url = `https://cfe.example/r/${cfe.receiptToken}`;
  expect(leadingOut(await shownTo(browser))).toEqual([
    url,
    ...['A4', '80mm', '58mm'].map((paper) => `${url}/pdf?paper=${paper}`),
  ]);

  const stands = (status: CfeStatus, codes: readonly string[] | null) =>
    db.orm.em.fork().nativeUpdate(
      Cfe,
      { id: cfe.id },
      {
        status,
        rejection: codes?.map((code) => ({ code, message: code, detail: null })) ?? null,
        settledAt: status === 'PENDING' ? null : cfe.settledAt,
      },
    );
  const neverHandedOver = [
    ['PENDING', null],
    ['REJECTED', ['abandoned']],
  ] as const;
  for (const [status, codes] of neverHandedOver) {
    await stands(status, codes);
    const text = await shownTo(browser);
    expect(leadingOut(text)).toEqual([]);
    expect(text).not.toContain(cfe.receiptToken);
  }
  await stands('ACCEPTED', null);
});

test('deliveries are told to whose webhook they go to, and sent again by who may', async () => {
  const [ours, theirs] = [
    await aWebhook(owners, 'https://caja.example/x'),
    await aWebhook(guests, 'https://estudio.example/x'),
  ];
  const [toUs, toThem] = [await aDelivery(ours), await aDelivery(theirs)];
  const ofOtherCfe = await aDelivery(ours, 'sandbox');
  const seen = async (browser: Browser) => {
    const text = await shownTo(browser);
    expect(text).not.toContain(ofOtherCfe);
    const named = [toUs, toThem].map((id) => text.includes(`href="/deliveries/${id}"`));
    const again = [toUs, toThem].map((id) => text.includes(`action="/deliveries/${id}/redeliver"`));
    return { named, again };
  };
  const as = async (accountId: string, role: 'VIEWER' | 'MEMBER' | 'OWNER') =>
    seen(await site.as(await site.aMember(accountId, role)));
  const both = [true, true];
  expect(await as(owners, 'VIEWER')).toEqual({ named: [true, false], again: [false, false] });
  expect(await as(owners, 'MEMBER')).toEqual({ named: [true, false], again: [true, false] });
  // Who only reads at the enterprise still looks after webhooks of their own.
  expect(await as(guests, 'OWNER')).toEqual({ named: [false, true], again: [false, true] });
  const operator = await site.as(await site.anOperator('VIEWER'));
  expect(await seen(operator)).toEqual({ named: both, again: [false, false] });
  const support = await site.as(await site.anOperator('SUPPORT'));
  expect(await seen(support)).toEqual({ named: both, again: both });

  const fields = { form_token: formTokenIn(await shownTo(support)), reason: 'the receiver is back' };
  const sent = await support.post(`/deliveries/${toThem}/redeliver`, fields, english);
  expect(sent.to).toBe(`/deliveries/${toThem}`);
  expect(await db.orm.em.fork().findOneOrFail(Delivery, toThem)).toMatchObject({ status: 'PENDING' });
  await db.orm.em.fork().nativeUpdate(Webhook, { id: ours }, { enabled: false, removedAt: new Date() });
  expect(await seen(support)).toEqual({ named: both, again: [false, true] });
});

test('the timeline goes on to how e-mails and the reader’s own deliveries ended', async () => {
  const webhookId = await aWebhook(owners, 'https://caja.example/linea');
  const [failed, arrived] = [await aDelivery(webhookId), await aDelivery(webhookId)];
  const em = db.orm.em.fork();
  await em.nativeUpdate(Delivery, { id: arrived }, { status: 'DELIVERED' });
  await em.insert(Mail, {
    id: randomUUID(),
    workflowId: `mail:${randomUUID()}`,
    cfeUuid: cfe.id,
    rut,
    environment: 'production',
    kind: 'RECEIPT',
    destination: 'cliente@example.com',
    status: 'SENT',
    attempts: 1,
    byHand: true,
    askedAgain: false,
    counted: true,
    error: null,
    messageId: null,
    createdAt: new Date(),
    settledAt: new Date(),
  });
  const timeline = async (browser: Browser): Promise<string> =>
    /<h2[^>]*>What happened[\s\S]*?<\/table>/.exec(await shownTo(browser))?.[0] ?? '';
  const ours = await timeline(await site.as(await site.aMember(owners, 'VIEWER')));
  expect(ours).toContain(`Webhook notified: <a href="/deliveries/${arrived}">cfe.updated</a>`);
  expect(ours).toContain(`Webhook not notified: <a href="/deliveries/${failed}">`);
  expect(ours).toContain('E-mail delivered to the mail server of <span class="url">cliente@example.com');
  const theirs = await timeline(await site.as(await site.aMember(guests, 'OWNER')));
  expect(theirs).toContain('E-mail delivered');
  expect(theirs).not.toContain('caja.example');
});

test('the daily report that it belongs to is a click away', async () => {
  const date = cfe.document.signedAt.slice(0, 10);
  const browser = await site.as(await site.aMember(owners, 'VIEWER'));
  const path = `/reports/${rut}/production/${date}`;
  expect(await shownTo(browser)).not.toContain(path);
  await storeSubmission(db.orm, { rut, environment: 'production', date }, {});
  expect(await shownTo(browser)).toContain(`href="${path}"`);
  expect((await browser.get(path)).status).toBe(200);
});

test('a receipt whose step fails by a mistake of ours says so, and offers support nothing', async () => {
  const support = await site.as(await site.anOperator('SUPPORT'));
  const stands = (changes: Partial<Cfe>) => db.orm.em.fork().nativeUpdate(Cfe, { id: cfe.id }, changes);
  const way = { status: 'PENDING', settledAt: null } as const;
  try {
    await stands({ ...way, stuckReason: 'undecided' });
    expect(await shownTo(support)).toContain(`action="${page}/support"`);
    await stands({ ...way, stuckReason: 'internal' });
    const text = await shownTo(support);
    expect(text).toContain('inform the developers');
    expect(text).not.toContain(`action="${page}/support"`);
  } finally {
    await stands({ status: 'ACCEPTED', settledAt: cfe.settledAt, stuckReason: null });
  }
});

test('the timeline names the API key that asked for it, to its own account and to operators', async () => {
  const of = await aReadyEnterprise(db.orm, owners, { caes: [{ type: 'ETICKET' }] });
  await db.orm.em.fork().insert(EnterpriseGrant, { accountId: guests, rut: of, role: 'VIEWER' });
  const keyId = randomUUID();
  await db.orm.em.fork().insert(ApiKey, {
    id: keyId,
    publicId: 'caja1caja1ca',
    accountId: owners,
    environment: 'production',
    scope: 'full',
    hash: Buffer.alloc(32),
    label: 'Caja <1>',
    createdAt: new Date(),
    lastUsedAt: null,
    revokedAt: null,
  });
  await issueCfe(
    {
      orm: db.orm,
      clock: () => new Date(),
      ...idleIssuing,
      actor: `account:${owners}`,
      origin: { keyId, address: '192.0.2.7' },
    },
    { accountId: owners, rut: of, environment: 'production', body: fromJson(JSON.stringify(aCfeBody({}))) },
  );
  const path = `/cfes/${of}/production/101-1`;
  const named = `With the API key cfe_live_caja1caja1ca… · Caja &lt;1&gt; · ${keyId}`;
  const told = async (browser: Browser) => (await browser.get(path, english)).text;
  expect(await told(await site.as(await site.aMember(owners, 'VIEWER')))).toContain(named);
  expect(await told(await site.as(await site.anOperator('VIEWER')))).toContain(named);
  const guest = await told(await site.as(await site.aMember(guests, 'OWNER')));
  expect(guest).toContain('Received and numbered');
  expect(guest).not.toContain(keyId);
  // One that no request over HTTP asked for.
  expect(await shownTo(await site.as(await site.anOperator('VIEWER')))).not.toContain('With the API key');
});

test('a receipt leads to its enterprise, and operators to what was done about it', async () => {
  const links = (text: string): string[] => [...text.matchAll(/href="([^"]*)"/g)].map(([, to = '']) => to);
  const audit = `/audit?rut=${rut}&amp;subject=101-${cfe.sequence}`;
  const ofMember = links(await shownTo(await site.as(await site.aMember(owners, 'VIEWER'))));
  const ofOperator = links(await shownTo(await site.as(await site.anOperator('VIEWER'))));
  expect([ofMember, ofOperator].map((all) => all.includes(`/enterprises/${rut}`))).toEqual([true, true]);
  expect([ofMember, ofOperator].map((all) => all.includes(audit))).toEqual([false, true]);
});

test('of calls that were answered alike what was said is that of the last, and says so', async () => {
  const operator = await site.as(await site.anOperator('VIEWER'));
  const attempt = (at: string): AuthorityCallRecord => ({
    operation: 'askVerdict',
    answer: 'no connection',
    result: 'retry',
    at: new Date(at),
    milliseconds: 5,
    detail: null,
    reasons: [],
    request: `<asked at="${at}"/>`,
    response: null,
  });
  const [first, last] = ['2026-03-01T12:00:00Z', '2026-03-01T13:30:00Z'];
  const rest = Array.from({ length: 38 }, () => attempt('2026-03-01T13:00:00Z'));
  await storeAttempts(db.orm.em.fork(), cfe.id, [attempt(first), ...rest, attempt(last)], null);

  const links = [
    ...(await shownTo(operator)).matchAll(/href="([^"]*\/exchange\?[^"]*no\+connection[^"]*)"/g),
  ];
  expect(links).toHaveLength(1);
  const { text } = await operator.get(links[0]?.[1]?.replaceAll('&amp;', '&') ?? '', english);
  expect(text).toContain('the last of 40 with the same answer, <time datetime="2026-03-01T13:30:00.000Z">');
  expect(text).toContain(last);
  expect(text).not.toContain(first);
});

test('a receipt of the sandbox is offered only for addresses that the operator has named', async () => {
  const [trial] = (await giveCfes(
    db.orm,
    { accountId: owners, rut },
    { status: 'ACCEPTED', environment: 'sandbox' },
  )) as [Cfe];
  const here = `/cfes/${rut}/sandbox/101-${trial.sequence}`;
  await using open = await startConsole(db.orm, { sandboxMails: ['pruebas@estudio.example'] });
  const [closed, named] = [
    await site.as(await site.aMember(owners, 'MEMBER'), english),
    await open.as(await open.aMember(owners, 'MEMBER'), english),
  ];
  const mails = () => db.orm.em.fork().find(Mail, { cfeUuid: trial.id });

  const shown = (await closed.get(here, english)).text;
  expect(shown).toContain('None is enabled yet.');
  expect(shown).not.toContain(`action="${here}/mails"`);
  expect((await named.get(here, english)).text).toMatch(
    /<select name="destination"><option value="pruebas@estudio.example">/,
  );

  const stranger = { destination: 'cliente@ajeno.example' };
  for (const browser of [closed, named]) {
    await browser.send(`${here}/mails`, stranger, here);
    expect((await browser.get(here, english)).text).toContain('only to addresses that the operator');
  }
  expect(await mails()).toEqual([]);
  await named.send(`${here}/mails`, { destination: 'Pruebas@estudio.example' }, here);
  const [sent] = (await mails()) as [Mail];
  expect(sent).toMatchObject({ destination: 'Pruebas@estudio.example', status: 'PENDING' });
  const again = `action="${here}/mails/${sent.id}"`;
  expect((await named.get(here, english)).text).toContain(again);
  expect((await closed.get(here, english)).text).not.toContain(again);
});

test('sent again from the console, an e-mail counts: the eleventh of a day is refused, and says so', async () => {
  const [other] = (await giveCfes(db.orm, { accountId: owners, rut }, { status: 'ACCEPTED' })) as [Cfe];
  const here = `/cfes/${rut}/production/101-${other.sequence}`;
  const browser = await site.as(await site.aMember(owners, 'MEMBER'), english);
  await browser.send(`${here}/mails`, { destination: 'una@cliente.example' }, here);
  const [mail] = (await db.orm.em.fork().find(Mail, { cfeUuid: other.id })) as [Mail];

  for (let n = 0; n < 9; n += 1) await browser.send(`${here}/mails/${mail.id}`, {}, here);
  expect((await browser.get(here, english)).text).toContain('The e-mail is being resent.');
  await browser.send(`${here}/mails/${mail.id}`, {}, here);

  expect((await browser.get(here, english)).text).toContain('No more e-mails today');
});
