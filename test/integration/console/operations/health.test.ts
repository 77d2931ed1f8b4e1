import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createUser } from '../../../../src/commands/people/users.ts';
import { addWebhook, testWebhook } from '../../../../src/commands/webhooks/webhooks.ts';
import { EnterpriseGrant } from '../../../../src/db/entities/enterprises.ts';
import { DailyReport } from '../../../../src/db/entities/reports.ts';
import { Delivery } from '../../../../src/db/entities/webhooks.ts';
import { storeOpenReports } from '../../../../src/db/reports/dailyReports.ts';
import { addDays, montevideoDate } from '../../../../src/domain/values/montevideo.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import { startConsole, type TestConsole } from '../../../support/console/console.ts';
import { aTroubledAccount, type Troubled } from '../../../support/console/consoleRows.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { day } from '../../../support/receipts/papers.ts';
import { storeSubmission } from '../../../support/reports/submission.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

let db: TestDatabase;
let site: TestConsole;
let ours: Troubled;
let theirs: Troubled;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
  ours = await aTroubledAccount(db.orm, { name: 'Panaderia Nuestra', stuck: 'authority.certificate' });
  theirs = await aTroubledAccount(db.orm, { name: 'Ferreteria Ajena', stuck: 'undecided' });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** What the first page tells somebody: of whose enterprises and webhooks, why CFEs are stuck, and the figures. */
async function seenBy(person: { email: string; totp: Buffer | null }) {
  const { text, status } = await (await site.as(person)).get('/', { 'accept-language': 'en' });
  expect(status).toBe(200);
  const of = ({ legalName, rut, url }: Troubled) => [legalName, rut, url].map((one) => text.includes(one));
  return {
    ours: of(ours),
    theirs: of(theirs),
    reasons: ['authority.certificate', 'undecided'].filter((one) => text.includes(`>${one}<`)),
    counts: [...text.matchAll(/<td class="figure">(\d+)<\/td>/g)].map(([, count]) => Number(count)),
  };
}
const ALL = [true, true, true];
const NONE = [false, false, false];

test('each of two accounts sees its own, and of the other nothing, also in no sum', async () => {
  expect(await seenBy(await site.aMember(ours.accountId, 'OWNER'))).toEqual({
    ours: ALL,
    theirs: NONE,
    reasons: ['authority.certificate'],
    counts: [3, 2],
  });
  expect(await seenBy(await site.aMember(theirs.accountId, 'VIEWER'))).toEqual({
    ours: NONE,
    theirs: ALL,
    reasons: ['undecided'],
    counts: [3, 2],
  });
});

test('who belongs to both sees both, and an operator everything', async () => {
  const both = await site.aMember(ours.accountId, 'MEMBER');
  await createUser(site.deps, { email: both.email, accountId: theirs.accountId, role: 'VIEWER' });
  const everything = {
    ours: ALL,
    theirs: ALL,
    reasons: ['authority.certificate', 'undecided'],
    counts: [3, 3, 4],
  };
  expect(await seenBy(both)).toEqual(everything);
  // An operator sees as well how many wait for the authority.
  expect(await seenBy(await site.anOperator('VIEWER'))).toEqual({
    ...everything,
    counts: [...everything.counts, 10],
  });
});

test('who is let in at another’s enterprise sees what is its own, and not its owner’s webhooks', async () => {
  const guest = await anAccount(db.orm);
  await db.orm.em.fork().insert(EnterpriseGrant, { accountId: guest, rut: theirs.rut, role: 'VIEWER' });
  expect(await seenBy(await site.aMember(guest, 'OWNER'))).toEqual({
    ours: NONE,
    theirs: [true, true, false],
    reasons: ['undecided'],
    counts: [3, 2],
  });
});

test('reports that are due, late or wait for a person are told to whom they concern', async () => {
  const { orm } = db;
  const yesterday = addDays(montevideoDate(new Date()), -1);
  const days = [-1, -9, -10].map((ago) => addDays(yesterday, ago + 1));
  const [last = '', late = '', stuck = ''] = days;
  const at = { rut: ours.rut, environment: 'production' } as const;
  await orm.em.fork().transactional((em) =>
    storeOpenReports(
      em,
      [
        { ...at, date: last },
        { ...at, date: late },
      ],
      new Date(),
    ),
  );
  await orm.em
    .fork()
    .nativeUpdate(DailyReport, { ...at, date: last }, { dueAt: new Date(Date.now() + 3_600_000) });
  await orm.em
    .fork()
    .nativeUpdate(DailyReport, { ...at, date: late }, { dueAt: new Date(Date.now() - 3_600_000) });
  await storeSubmission(orm, { ...at, date: stuck }, { stuckReason: 'report.differs' });
  await orm.em.fork().nativeUpdate(DailyReport, { ...at, date: stuck }, { status: 'DIFFERS' });

  const told = async (accountId: string) => {
    const { text } = await (await site.as(await site.aMember(accountId, 'VIEWER'))).get('/', {
      'accept-language': 'es',
    });
    return /Reportes diarios<\/h2>.*?<\/section>/s.exec(text)?.[0] ?? '';
  };
  const own = await told(ours.accountId);
  expect(own).toContain('1 atrasado');
  expect(own).toContain('report.differs');
  expect([...own.matchAll(/class="figure">(\d+)</g)].map(([, count]) => Number(count))).toEqual([1, 2]);
  expect(own).toContain(`<time datetime="${stuck}">`);
  expect(await told(theirs.accountId)).toContain('Reportes al día');

  // Who asks for those that are late gets these.
  const [, href = ''] = /href="(\/reports\?[^"]*needs=late[^"]*)"/.exec(own) ?? [];
  const member = await site.as(await site.aMember(ours.accountId, 'VIEWER'));
  const { text } = await member.get(href.replaceAll('&amp;', '&'));
  const listed = [...text.matchAll(/class="row" href="\/reports\/\d+\/production\/([\d-]+)"/g)];
  expect(listed.map(([, date]) => date)).toEqual([late]);
  expect(text).not.toContain('href="/rates"');
  const operator = await site.as(await site.anOperator('VIEWER'));
  expect((await operator.get('/reports')).text).toContain('href="/rates"');
});

test('what has not ended yet comes first, and where there is more than the panel shows it leads to all', async () => {
  const account = await anAccount(db.orm);
  const ended = Array.from({ length: 21 }, (_, i) => ({
    expirationDate: day(-3),
    serie: `A${String.fromCharCode(65 + i)}`,
  }));
  const tomorrow = day(1);
  const rut = await aReadyEnterprise(db.orm, account, {
    caes: [...ended, { expirationDate: tomorrow, serie: 'Z' }],
  });
  const panelOf = async (): Promise<string> => {
    const { text } = await (await site.as(await site.aMember(account, 'VIEWER'))).get('/', {
      'accept-language': 'en',
    });
    return /Expiring soon and running low.*?<\/section>/s.exec(text)?.[0] ?? '';
  };
  const panel = await panelOf();
  const days = [...panel.matchAll(/<time datetime="([\d-]+)">/g)].map(([, at]) => at);
  expect(days).toHaveLength(20);
  expect(days[0]).toBe(tomorrow);
  expect(panel).toContain('There are more. <a href="/warnings?within=30">All that expire or run low</a>');

  await db.asOwner(`delete from cae where rut = '${rut}' and expiration_date < '${tomorrow}'`);
  expect(await panelOf()).toContain(
    '<div class="more"><a href="/warnings?within=30">All that expire or run low</a>',
  );
});

test('a webhook whose deliveries wait for a retry is shown, and nobody is told that all arrived', async () => {
  const { orm } = db;
  const accountId = await anAccount(orm);
  const member = await site.as(await site.aMember(accountId, 'VIEWER'));
  const panel = async (language: string): Promise<string> => {
    const { text } = await member.get('/', { 'accept-language': language });
    return /Webhooks (?:with|con).*?<\/section>/s.exec(text)?.[0] ?? '';
  };
  expect(await panel('en')).toContain(
    'No deliveries failed in the last 24 hours, and none are being retried.',
  );
  expect(await panel('es')).toContain('Sin entregas fallidas en las últimas 24 horas');
  const input = { accountId, url: 'https://espera.example/a', events: ['cfe.updated'] };
  const { webhook } = await addWebhook(webhookDeps(orm), input);
  const { id } = await testWebhook(webhookDeps(orm), { webhookId: webhook.id });
  await orm.em.fork().nativeUpdate(Delivery, { id }, { nextAttemptAt: new Date(Date.now() + 60_000) });

  expect(await panel('en')).toContain('espera.example');
  expect(await panel('en')).not.toContain('No deliveries failed');
  const { text } = await member.get('/webhooks', { 'accept-language': 'en' });
  expect(/espera\.example.*?<\/tr>/s.exec(text)?.[0]).toMatch(/>1</);
  const one = await member.get(`/deliveries/${id}`, { 'accept-language': 'en' });
  expect(one.text).toContain('retrying');
});
