import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEnterprise } from '../../../src/commands/enterprises/createEnterprise.ts';
import { createCustomer, deleteCustomer } from '../../../src/commands/enterprises/customers.ts';
import { createApiKey, revokeApiKey } from '../../../src/commands/people/apiKeys.ts';
import { addWebhook, removeWebhook } from '../../../src/commands/webhooks/webhooks.ts';
import { readConfig } from '../../../src/config.ts';
import { USUAL_CAPS } from '../../../src/domain/people/caps.ts';
import { Refusal } from '../../../src/errors.ts';
import { CAP_VARIABLES, capsOf } from '../../../src/wiring/caps.ts';
import { startApi, type TestApi } from '../../support/api/api.ts';
import { expectRefusal } from '../../support/api/expectRefusal.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { customerBody } from '../../support/enterprises/customers.ts';
import { anEnterprise, enterpriseBody, giveCertificate } from '../../support/enterprises/enterprises.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const CAPS = { webhooks: 3, apiKeys: 3, customers: 3, unprovenEnterprises: 3 };
let db: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  db = await cloneDatabase();
  api = await startApi({ orm: db.orm, caps: CAPS });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await db?.[Symbol.asyncDispose]();
});

interface Kind {
  readonly name: string;
  /** Something that owns such things; its id. */
  readonly owner: () => Promise<string>;
  /** Adds one; its id. */
  readonly add: (owner: string) => Promise<string>;
  readonly remove: (owner: string, id: string) => Promise<unknown>;
  readonly refusal: string;
}

const deps = () => ({ ...webhookDeps(db.orm), caps: CAPS });
const KINDS: readonly Kind[] = [
  {
    name: 'webhooks of an account',
    owner: () => anAccount(db.orm),
    add: async (accountId) => {
      const url = 'https://example.com/cfe';
      return (await addWebhook(deps(), { accountId, url, events: ['cfe.updated'] })).webhook.id;
    },
    remove: (_, webhookId) => removeWebhook(deps(), { webhookId }),
    refusal: 'The account has 3 webhooks, the maximum (CFE_MOST_WEBHOOKS); remove one first.',
  },
  {
    name: 'API keys of an account',
    owner: () => anAccount(db.orm),
    add: async (accountId) =>
      (await createApiKey({ ...deps(), apiKeys: api.deps.apiKeys }, { accountId, environment: 'production' }))
        .key.id,
    remove: (_, keyId) => revokeApiKey(deps(), { keyId }),
    refusal: 'The account has 3 API keys, the maximum (CFE_MOST_API_KEYS); revoke one first.',
  },
  {
    name: 'customers of an enterprise',
    owner: async () => anEnterprise(db.orm, await anAccount(db.orm)),
    add: async (rut) => (await createCustomer(deps(), { rut, customer: customerBody() })).docNumber,
    remove: (rut, docNumber) => deleteCustomer(deps(), { rut, docType: 'RUC', docNumber }),
    refusal: 'The enterprise has 3 customers already, the maximum; delete one first.',
  },
  {
    name: 'enterprises of an account without a certificate',
    owner: () => anAccount(db.orm),
    add: async (accountId) =>
      (await createEnterprise(deps(), { accountId, enterprise: enterpriseBody() })).rut,
    remove: (_, rut) => giveCertificate(db.orm, rut),
    refusal:
      'The account has 3 enterprises without a certificate, the maximum; upload a certificate for one of them first.',
  },
];

/** What a refusal says; of one with faults, the first. */
const wordsOf = (error: unknown): string =>
  error instanceof Refusal ? (error.faults[0]?.message ?? error.message) : String(error);

describe.each(KINDS)('$name', ({ owner, add, remove, refusal }) => {
  test('of ten that are added at once with room for one, exactly one is', async () => {
    const mine = await owner();
    await add(mine);
    await add(mine);

    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => add(mine)));

    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [wordsOf(outcome.reason)] : [],
    );
    expect(refused).toEqual(Array(9).fill(refusal));
  });

  test('what is gone makes room, and another owner has room of its own', async () => {
    const [mine, another] = [await owner(), await owner()];
    const ids = [await add(mine), await add(mine), await add(mine)];
    await add(another);
    await expect(add(mine)).rejects.toThrow(Refusal);

    await remove(mine, ids[1] ?? '');

    await add(mine);
    await expect(add(mine)).rejects.toThrow(Refusal);
  });
});

test('the API names the rule; one that is there already is told so, and may be changed', async () => {
  const caller = await api.aCaller();
  const path = `/enterprises/${await anEnterprise(db.orm, caller.accountId)}/customers`;
  const bodies = [customerBody(), customerBody(), customerBody(), customerBody()] as const;
  for (const body of bodies.slice(0, 3)) expect((await caller.client.post(path, body)).status).toBe(201);

  const codeOf = (error: ReturnType<typeof expectRefusal>) => error.details?.fields[0];
  expect(codeOf(expectRefusal(await caller.client.post(path, bodies[3]), 400, 'INVALID_INPUT'))).toEqual({
    path: '',
    code: 'customer.too_many',
    docs: 'https://cfe.example/v1/docs/refused#customer.too_many',
    message: 'The enterprise has 3 customers already, the maximum; delete one first.',
  });
  expect(codeOf(expectRefusal(await caller.client.post(path, bodies[0]), 400, 'INVALID_INPUT'))?.code).toBe(
    'customer.exists',
  );
  const { doc_type, doc_number } = bodies[0];
  expect((await caller.client.put(`${path}/${doc_type}/${doc_number}`, bodies[0])).status).toBe(200);
});

test('the API names the rule of enterprises without a certificate; one of the sandbox proves nothing', async () => {
  const caller = await api.aCaller();
  const ruts = [];
  for (let n = 0; n < 3; n += 1) ruts.push(await anEnterprise(db.orm, caller.accountId));
  for (const rut of ruts) await giveCertificate(db.orm, rut, { environment: 'sandbox' });

  const refused = expectRefusal(
    await caller.client.post('/enterprises', enterpriseBody()),
    400,
    'INVALID_INPUT',
  );
  expect(refused.details?.fields).toMatchObject([{ path: '', code: 'enterprise.too_many_unproven' }]);
});

test('an operator sets them; else they are the usual ones', () => {
  expect(capsOf(readConfig(CAP_VARIABLES, {}))).toEqual(USUAL_CAPS);
  const told = {
    CFE_MOST_WEBHOOKS: '1',
    CFE_MOST_API_KEYS: '2',
    CFE_MOST_CUSTOMERS: '3',
    CFE_MOST_UNPROVEN_ENTERPRISES: '4',
  };
  const unprovenEnterprises = 4;
  expect(capsOf(readConfig(CAP_VARIABLES, told))).toEqual({
    webhooks: 1,
    apiKeys: 2,
    customers: 3,
    unprovenEnterprises,
  });
  expect(() => readConfig(CAP_VARIABLES, { CFE_MOST_CUSTOMERS: '0' })).toThrow(
    'CFE_MOST_CUSTOMERS holds "0"',
  );
});
