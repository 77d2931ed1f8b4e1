import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createApiKey } from '../../../../src/commands/people/apiKeys.ts';
import { setGrant } from '../../../../src/commands/people/grants.ts';
import { createApiKeys } from '../../../../src/crypto/apiKeys.ts';
import { Account } from '../../../../src/db/entities/people.ts';
import { recordAudit } from '../../../../src/db/operations/audit.ts';
import { AUDIT_ACTIONS } from '../../../../src/domain/operations/audit.ts';
import { TEXTS } from '../../../../src/words/console.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import { type Browser, startConsole, type TestConsole } from '../../../support/console/console.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { aPepper } from '../../../support/database/pepper.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { givePendingCfes } from '../../../support/receipts/pendingCfes.ts';

let db: TestDatabase;
let site: TestConsole;
let browser: Browser;
let account: string;
let rut: string;
let cfe: string;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
  account = await anAccount(db.orm);
  await db.orm.em.fork().nativeUpdate(Account, { id: account }, { name: 'Estudio Zorzal' });
  rut = await aReadyEnterprise(db.orm, account, { values: { legalName: 'Panadería Zorzal' } });
  cfe = (await givePendingCfes(db.orm, { accountId: account, rut, count: 1, from: new Date() }))[0]?.id ?? '';
  const deps = { ...site.deps, apiKeys: createApiKeys([aPepper()]) };
  await createApiKey({ ...deps, actor: 'cli:beto' }, { accountId: account, environment: 'production' });
  await setGrant(
    { ...site.deps, actor: `account:${account}` },
    { accountId: await anAccount(db.orm), rut, role: 'VIEWER' },
  );
  await db.orm.em.fork().transactional(async (em) => {
    const act = {
      action: 'cfe.retry',
      subject: cfe,
      rut,
      reason: '=the certificate was renewed',
      outcome: 'retried',
    } as const;
    const from = { origin: { keyId: null, address: '198.51.100.7' }, requestId: 'request-1' };
    const ana = { actor: 'console:ana@example.com', ...act, ...from } as const;
    recordAudit(em, ana, new Date('2026-03-15T02:59:00Z'));
    recordAudit(
      em,
      {
        actor: 'unverified',
        action: 'report.retry',
        subject: 'x',
        reason: 'eva: mended',
        outcome: 'retried',
      },
      new Date('2026-02-01T12:00:00Z'),
    );
    recordAudit(
      em,
      { actor: 'console:ana@example.com', action: 'webhook.test', subject: 'x', accountId: account },
      new Date('2026-03-15T03:01:00Z'),
    );
  });
  browser = await site.as(await site.anOperator('VIEWER'));
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** What a search finds, as the CSV tells it. */
async function found(query: string): Promise<string[]> {
  const { text, status } = await browser.get(`/audit?format=csv&${query}`);
  expect(status).toBe(200);
  return text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.split(',').slice(1, 3).join(' '));
}

test('by person, whichever way they came', async () => {
  expect(await found('person=ana@example.com')).toEqual([
    'console:ana@example.com webhook.test',
    'console:ana@example.com cfe.retry',
  ]);
  expect(await found('person=beto')).toEqual(['cli:beto api_key.create']);
});

test('by enterprise, by CFE, by action, by account and by days in Montevideo', async () => {
  expect(await found(`rut=${rut}`)).toEqual([
    'console:ana@example.com cfe.retry',
    `account:${account} grant.set`,
  ]);
  expect(await found(`rut=${rut}&subject=101-1`)).toEqual(['console:ana@example.com cfe.retry']);
  expect(await found(`subject=${cfe}`)).toEqual(['console:ana@example.com cfe.retry']);
  expect(await found('action=webhook.test')).toHaveLength(1);
  expect(await found(`account=${account}&action=api_key.create`)).toHaveLength(1);
  expect(await found('since=2026-03-14&until=2026-03-14')).toEqual(['console:ana@example.com cfe.retry']);
  expect(await found('since=2026-03-15&until=2026-03-15')).toEqual(['console:ana@example.com webhook.test']);
  expect((await browser.get('/audit?since=yesterday')).status).toBe(400);
});

test('says who by name, where it leads, and why', async () => {
  const { text } = await browser.get(`/audit?rut=${rut}`, { 'accept-language': 'es' });
  expect(text).toContain(`href="/cfes/${rut}/production/101-1"`);
  expect(text).toContain('ana@example.com <span class="soft">consola · 198.51.100.7</span>');
  expect(text).toContain('Estudio Zorzal <span class="soft">API</span>');
  expect(text).toContain('=the certificate was renewed');
  const csv = (await browser.get(`/audit?rut=${rut}&format=csv`)).text;
  expect(csv).toContain("'=the certificate was renewed");
  expect(csv).toContain('198.51.100.7,request-1');
});

test('what was asked for in Temporal alone stands there as unverified, whatever was typed', async () => {
  const { text } = await browser.get('/audit?action=report.retry', { 'accept-language': 'es' });
  expect(text).toContain('sin verificar <span class="soft">Temporal</span>');
  expect(await found('action=report.retry')).toEqual(['unverified report.retry']);
  expect(await found('person=eva')).toEqual([]);
});

test('acts stand in words of the page’s language, each with its code; the CSV has the code', async () => {
  const es = (await browser.get(`/audit?rut=${rut}`, { 'accept-language': 'es' })).text;
  expect(es).toContain('Comprobante reintentado <code class="soft">cfe.retry</code>');
  expect(es).toContain('<option value="grant.set">Rol otorgado en una empresa</option>');
  const en = (await browser.get(`/audit?rut=${rut}`, { 'accept-language': 'en' })).text;
  expect(en).toContain('Receipt retried <code class="soft">cfe.retry</code>');
  expect((await browser.get(`/audit?rut=${rut}&format=csv`)).text).toContain(',cfe.retry,');
  // No two acts go by the same words, and none by those of the other language.
  const [words, others] = [Object.values(TEXTS.es.audit.actions), Object.values(TEXTS.en.audit.actions)];
  expect(new Set([...words, ...others]).size).toBe(2 * AUDIT_ACTIONS.length);
});
