import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import { addWebhook, testWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { aSobreOf } from '../../support/receipts/pendingCfes.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

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

test('new rows have ids that a person can read', async () => {
  const [cfe, sandbox] = [await issue(), await issue('sandbox')];
  const delivery = await aDelivery();

  expect(cfe.workflowId).toBe(`cfe:${rut}:101-1:${cfe.sobreId?.slice(0, 8)}`);
  expect(sandbox.workflowId).toBe(`cfe-sandbox:${rut}:101-1:${sandbox.sobreId?.slice(0, 8)}`);
  expect(delivery.workflowId).toBe(`wh:webhook.test:-:${delivery.id}`);
});

test('a run of several CFEs is named after the first and how many others follow', async () => {
  const em = db.orm.em.fork();
  const cfes = [await issue(), await issue(), await issue()].map(({ id }) => id);
  const rows = await em.find(Cfe, { id: { $in: cfes } }, { orderBy: { sequence: 'asc' } });
  const sobreId = await aSobreOf(db.orm, rows);

  const { workflowId } = await em.findOneOrFail(Sobre, { id: sobreId });
  expect(workflowId).toBe(`cfe:${rut}:101-2+2:${sobreId.slice(0, 8)}`);
});
