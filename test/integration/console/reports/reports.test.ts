import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DailyReport, ReportSubmission } from '../../../../src/db/entities/reports.ts';
import { storeOpenReports } from '../../../../src/db/reports/dailyReports.ts';
import type { SupportAsk } from '../../../../src/domain/operations/supportAction.ts';
import { Refusal } from '../../../../src/errors.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import {
  type Browser,
  formTokenIn,
  startConsole,
  type TestConsole,
} from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aReceipt } from '../../../support/reports/receipts.ts';
import { storeCfes } from '../../../support/reports/stored.ts';
import { storeSubmission } from '../../../support/reports/submission.ts';

const DAY = '2026-03-10';
const ENGLISH = { 'accept-language': 'en' };
let db: TestDatabase;
let site: TestConsole;
let account: string;
let member: Browser;
let support: Browser;
/** What was asked of workflows. */
const asked: [string, SupportAsk][] = [];
let answer: Awaited<ReturnType<TestConsole['deps']['askSupport']>> | Refusal;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm, {
    askSupport: async (workflowId, request) => {
      if (answer instanceof Refusal) throw answer;
      asked.push([workflowId, request]);
      return answer;
    },
  });
  account = await anAccount(db.orm);
  member = await site.as(await site.aMember(account, 'MEMBER'));
  support = await site.as(await site.anOperator('SUPPORT'));
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const read = async (browser: Browser, path: string): Promise<string> =>
  (await browser.get(path, ENGLISH)).text;
const days = (text: string): string[] =>
  [...text.matchAll(/class="row" href="\/reports\/(\d+\/\w+\/[\d-]+)"/g)].map(([, at]) => at ?? '');

test('days that need somebody come first, page by page, each once, and nobody else’s', async () => {
  const [own, other] = [await anAccount(db.orm), await anAccount(db.orm)];
  const [rut, theirs] = [await aReadyEnterprise(db.orm, own), await aReadyEnterprise(db.orm, other)];
  const all = Array.from({ length: 70 }, (_, i) =>
    new Date(Date.UTC(2025, 0, 1 + i)).toISOString().slice(0, 10),
  );
  const key = { rut, environment: 'production' } as const;
  await storeOpenReports(
    db.orm.em.fork(),
    all.map((date) => ({ ...key, date })),
    new Date(),
  );
  const stuck = ['2025-01-03', '2025-02-01'];
  await db.orm.em
    .fork()
    .nativeUpdate(
      DailyReport,
      { ...key, date: { $in: stuck } },
      { stuckReason: 'report.content', status: 'REFUSED' },
    );
  await storeSubmission(db.orm, { rut: theirs, environment: 'production', date: DAY });
  const browser = await site.as(await site.aMember(own, 'VIEWER'));

  const first = await read(browser, '/reports');
  const next = /href="([^"]*)" rel="next"/.exec(first)?.[1] ?? '';
  const second = await read(browser, next.replaceAll('&amp;', '&'));
  const inOrder = [...stuck.toReversed(), ...all.filter((one) => !stuck.includes(one)).toReversed()];
  expect([...days(first), ...days(second)]).toEqual(inOrder.map((date) => `${rut}/production/${date}`));
  expect(days(await read(browser, '/reports?needs=person'))).toHaveLength(2);
  expect(days(await read(browser, '/reports?status=REFUSED&from=2025-02-01'))).toHaveLength(1);
  const csv = (await read(browser, '/reports?format=csv')).trim().split('\r\n');
  expect(csv).toHaveLength(1 + all.length);
  expect(csv[1]).toMatch(`2025-02-01,${rut},REFUSED,report.content,,`);
});

test('a day that differs: what the authority said, and what we hold beside what was told', async () => {
  const rut = await aReadyEnterprise(db.orm, account);
  const key = { rut, environment: 'production', date: DAY } as const;
  await storeCfes(db.orm, { accountId: account, rut, settledAt: new Date('2026-03-10T20:00:00Z') }, [
    { document: aReceipt('ETICKET', 1, { basicNet: '1000.00', total: '1220.00' }), status: 'ACCEPTED' },
    { document: aReceipt('ETICKET', 2, { basicNet: '1000.00', total: '1220.00' }), status: 'ACCEPTED' },
    { document: aReceipt('ETICKET', 3, { basicNet: '1000.00', total: '1220.00' }), status: 'RECEIVED' },
  ]);
  await storeSubmission(db.orm, key, { stuckReason: 'report.differs' });
  const em = db.orm.em.fork();
  await em.nativeUpdate(DailyReport, { ...key }, { status: 'DIFFERS' });
  await em.nativeUpdate(ReportSubmission, { ...key }, { status: 'DIFFERS' });
  const path = `/reports/${rut}/production/${DAY}`;

  const text = await read(member, path);
  expect(text).toContain('its receipts differ from those reported (ER)');
  const difference = text.slice(text.indexOf('Reported and held now'));
  const rows = [...difference.matchAll(/<tr>(<td.*?)<\/tr>/g)]
    .slice(0, 2)
    .map(([, cells = '']) =>
      [...cells.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) => cell.replace(/<[^>]*>/g, '')),
    );
  expect(rows).toEqual([
    ['e-Ticket', 'Issued', '1', '2', '+1'],
    ['e-Ticket', 'Annulled', '1', '0', '−1'],
  ]);
  expect(text).toContain(`href="/cfes/${rut}/production/101-3"`);
  expect(text).toContain('1,230.00');
  expect(text).not.toContain('action="/reports/');
  const link = /href="([^"]*\/xml\?[^"]*)"/.exec(text)?.[1] ?? '';
  expect((await member.get(link)).text).toBe('<Reporte/>');
});

test('support retries and settles what waits for a person, with a reason, as the person they are', async () => {
  const rut = await aReadyEnterprise(db.orm, account);
  const key = { rut, environment: 'production', date: DAY } as const;
  await storeSubmission(db.orm, key, { stuckReason: 'report.content' });
  const path = `/reports/${rut}/production/${DAY}`;
  const act = async (name: string, reason: string): Promise<string> => {
    const form_token = formTokenIn((await support.get('/help')).text);
    const { to } = await support.post(`${path}/${name}`, { reason, form_token }, ENGLISH);
    return /role="status">([^<]*)/.exec(await read(support, String(to)))?.[1] ?? '';
  };
  const shown = await read(support, path);
  expect(shown).toContain('Validaciones');
  expect(shown).toContain('breaks a rule of the format');
  expect([...shown.matchAll(/action="\/reports\/[^"]*\/(\w+)"/g)].map(([, name]) => name)).toEqual([
    'retry',
    'settle',
  ]);

  answer = { outcome: 'retried', message: '' };
  expect(await act('retry', 'corregida la sucursal')).toContain('being checked again');
  answer = { outcome: 'refused', message: '' };
  expect(await act('settle', 'acordado')).toContain('gave no usable answer');
  expect(await act('settle', ' ')).toContain('Reason (kept in the audit)');
  answer = new Refusal('UNAVAILABLE', 'No worker accepts the request.');
  const unanswered = await act('retry', 'corregida la sucursal');
  expect(unanswered).toContain('may have been carried out, or may be later');
  expect(unanswered).not.toContain('Nothing changed');
  expect(await act('send', 'otra vez')).toContain('A report that needs attention');
  const requestId = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(asked).toEqual(['retry', 'settle'].map((action) => [`report:${rut}:${DAY}`, { action, requestId }]));
  const rows = await db.orm.em
    .fork()
    .execute('select actor, address, action, reason, request_id from audit where rut = ? order by id', [rut]);
  const actor = expect.stringMatching(/^console:persona\d+@/);
  expect(rows).toMatchObject([
    { actor, address: expect.any(String), action: 'report.retry', reason: 'corregida la sucursal' },
    { actor, address: expect.any(String), action: 'report.settle', reason: 'acordado' },
    { action: 'report.retry' },
  ]);
  expect(rows.slice(0, 2).map(({ request_id }) => request_id)).toEqual(
    asked.map(([, { requestId: asRequested }]) => asRequested),
  );
});

test('a day is sent by hand, in the sandbox too, and only until today', async () => {
  const rut = await aReadyEnterprise(db.orm, account);
  const send = async (date: string, environment = 'sandbox'): Promise<string> => {
    const form_token = formTokenIn((await support.get('/help')).text);
    const fields = { date, environment, reason: 'Pedido', form_token };
    const { to } = await support.post(`/enterprises/${rut}/send-report`, fields, ENGLISH);
    return /role="status">([^<]*)/.exec(await read(support, String(to).split('#')[0] ?? ''))?.[1] ?? '';
  };
  expect(await send(DAY)).toContain('on its way');
  expect(await send('2049-01-01')).toContain('Only today or an earlier day');
  expect(await send(DAY, 'production')).toContain('does not report through this service');
  const path = `/reports/${rut}/sandbox/${DAY}`;
  expect(await read(support, path)).toContain(`action="${path}/send"`);
});
