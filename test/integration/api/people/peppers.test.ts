import { expect, test } from '@jest/globals';
import { createApiKeys } from '../../../../src/crypto/apiKeys.ts';
import type { Peppers } from '../../../../src/crypto/peppers.ts';
import { createRequestHash } from '../../../../src/crypto/requestHash.ts';
import { countSecretsByPepper } from '../../../../src/db/operations/sealed.ts';
import { serviceKeys, startApi } from '../../../support/api/api.ts';
import { expectRefusal } from '../../../support/api/expectRefusal.ts';
import { cloneDatabase } from '../../../support/database/database.ts';
import { aPepper } from '../../../support/database/pepper.ts';
import { customerBody } from '../../../support/enterprises/customers.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';

test('after a new pepper an API key works and an idempotency key replays, until the old one is taken away', async () => {
  await using db = await cloneDatabase();
  const [old, fresh] = [aPepper('old'), aPepper('fresh')];
  const keys = await serviceKeys([old]);
  const under = (peppers: Peppers) => ({
    ...keys,
    apiKeys: createApiKeys(peppers),
    requestHash: createRequestHash(peppers),
  });
  await using before = await startApi({ orm: db.orm, keys: under([old]) });
  await using rotated = await startApi({ orm: db.orm, keys: under([fresh, old]) });
  await using without = await startApi({ orm: db.orm, keys: under([fresh]) });
  const { accountId, apiKey, token } = await before.aCaller();
  const path = `/enterprises/${await aReadyEnterprise(db.orm, accountId)}`;
  const headers = { 'x-api-key': apiKey, authorization: `Bearer ${token}` };
  const [customer, receipt] = [customerBody(), aCfeBody()];
  const at = ({ client }: Pick<typeof before, 'client'>) => ({
    customer: () =>
      client.with({ ...headers, 'idempotency-key': 'customer' }).post(`${path}/customers`, customer),
    receipt: () => client.with({ ...headers, 'idempotency-key': 'receipt' }).post(`${path}/cfes`, receipt),
  });
  const first = [await at(before).customer(), await at(before).receipt()];
  expect(first.map(({ status }) => status)).toEqual([201, 201]);

  const again = [await at(rotated).customer(), await at(rotated).receipt()];
  expect(again.map(({ data }) => data)).toEqual(first.map(({ data }) => data));
  const other = rotated.client.with({ ...headers, 'idempotency-key': 'receipt' });
  const refused = expectRefusal(
    await other.post(`${path}/cfes`, aCfeBody({ itemName: 'Otro' })),
    422,
    'IDEMPOTENCY_KEY_REUSED',
  );
  expect(refused?.details?.fields?.map((fault) => fault.path)).toEqual(['/details/0/item_name']);
  expect((await rotated.client.with({ 'x-api-key': apiKey }).post('/tokens', {})).status).toBe(200);

  // What is made from now on is made under the new one.
  const { apiKey: newKey } = await rotated.aCaller({ accountId });
  expect(await countSecretsByPepper(db.orm.em.fork())).toEqual([
    { what: 'api_key', pepper_id: 'fresh', account_id: accountId, count: 1 },
    { what: 'api_key', pepper_id: 'old', account_id: accountId, count: 1 },
  ]);
  const statusOf = async (key: string) =>
    (await without.client.with({ 'x-api-key': key }).post('/tokens', {})).status;
  expect([await statusOf(newKey), await statusOf(apiKey)]).toEqual([200, 401]);
});
