import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addWebhook } from '../../src/commands/addWebhook.ts';
import { issueCfe } from '../../src/commands/issueCfe.ts';
import { testWebhook } from '../../src/commands/testWebhook.ts';
import { cfeById, issueCfeMessage } from '../../src/db/cfes.ts';
import { findDelivery } from '../../src/db/deliveries.ts';
import { migrate, openOrm } from '../../src/db/orm.ts';
import { UNFINISHED } from '../../src/db/unfinished.ts';
import type { Environment } from '../../src/domain/cfeTypes.ts';
import { aCfeBody } from '../support/cfeBodies.ts';
import { anAccount } from '../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../support/enterprises.ts';
import { fromJson } from '../support/exactJson.ts';
import { webhookDeps } from '../support/webhooks/deliveries.ts';

let db: TestDatabase;
let accountId: string;
let rut: string;
beforeAll(async () => {
  db = await cloneDatabase();
  accountId = await anAccount(db.orm, { isDeveloper: true });
  rut = await aReadyEnterprise(db.orm, accountId);
  await giveCertificate(db.orm, rut, { environment: 'sandbox' });
  await giveCae(db.orm, rut, { environment: 'sandbox' });
});
afterAll(() => db[Symbol.asyncDispose]());

const issue = (environment: Environment = 'production') =>
  issueCfe(webhookDeps(db.orm), { accountId, rut, environment, body: fromJson(JSON.stringify(aCfeBody())) });
async function aDelivery() {
  const deps = webhookDeps(db.orm);
  const { webhook } = await addWebhook(deps, {
    accountId,
    url: 'https://hooks.example.com/',
    events: ['cfe.updated'],
  });
  return testWebhook(deps, { webhookId: webhook.id });
}
const sql = <T = unknown>(statement: string, values: unknown[] = []) =>
  db.orm.em.fork().execute<T[]>(statement, values);

/** Inserts a copy of the row as the version before would: it names no column that it does not know. */
async function insertAsBefore(table: 'cfe' | 'delivery', id: string, others: Record<string, string>) {
  const values: Record<string, string> = { id: `'${randomUUID()}'`, ...others };
  const columns = await sql<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_name = ? and column_name not in ('workflow_id', 'receipt_token')`,
    [table],
  );
  const names = columns.map(({ name }) => name);
  const [row] = await sql<{ id: string }>(
    `insert into ${table} (${names.join()}) select ${names.map((name) => values[name] ?? name).join()}
       from ${table} where id = ? returning id`,
    [id],
  );
  return row?.id ?? '';
}

test('new rows have ids that a person can read', async () => {
  const [cfe, sandbox] = [await issue(), await issue('sandbox')];
  const delivery = await aDelivery();

  expect(cfe.workflowId).toBe(`cfe:${rut}:101-1:${cfe.id.slice(0, 8)}`);
  expect(sandbox.workflowId).toBe(`cfe-sandbox:${rut}:101-1:${sandbox.id.slice(0, 8)}`);
  expect(delivery.workflowId).toBe(`wh:webhook.test:-:${delivery.id}`);
});

test('rows of the version before, and those that it still inserts, keep the old ids', async () => {
  const [cfe, delivery] = [await issue(), await aDelivery()];
  await db.asOwner(
    'alter table cfe drop column workflow_id cascade',
    'alter table delivery drop column workflow_id cascade',
    'drop function old_workflow_id',
    `delete from migration where name = '0012_workflow_ids'`,
  );
  const owner = await openOrm({ databaseUrl: db.ownerUrl, pool: 2 });

  expect(await migrate(owner)).toEqual(['0012_workflow_ids']);
  await owner.close(true);
  const laterCfe = await insertAsBefore('cfe', cfe.id, { sequence: '99', numero: '99' });
  const laterDelivery = await insertAsBefore('delivery', delivery.id, {});

  const em = db.orm.em.fork();
  for (const id of [cfe.id, laterCfe]) {
    const message = issueCfeMessage(await cfeById(em, id), 'turnCame');
    expect(message).toMatchObject({ workflowId: `cfe:${id}`, input: { cfeId: id }, signal: 'turnCame' });
  }
  for (const id of [delivery.id, laterDelivery]) {
    expect(await findDelivery(em, id)).toMatchObject({ workflowId: `wh:${id}` });
  }
  const begunAnew = await Promise.all([UNFINISHED.issueCfe(em, {}), UNFINISHED.deliverWebhook(em, {})]);
  expect(begunAnew.flat().map(({ workflowId }) => workflowId)).toEqual(
    expect.arrayContaining([`cfe:${laterCfe}`, `wh:${laterDelivery}`]),
  );
  expect((await issue()).workflowId).toMatch(/^cfe:\d{12}:101-\d+:/);
});
