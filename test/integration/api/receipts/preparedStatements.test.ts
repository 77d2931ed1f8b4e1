import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startApi, type TestApi, type TestCaller } from '../../../support/api/api.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { type NotedDatabase, notingStatements } from '../../../support/database/statements.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';

let db: TestDatabase;
let noted: NotedDatabase;
let api: TestApi;
let owner: TestCaller;
let path: string;

beforeAll(async () => {
  db = await cloneDatabase();
  noted = await notingStatements(db.urlOf('api'));
  api = await startApi({ orm: db.orm, own: noted.orm });
  owner = await api.aCaller();
  path = `/enterprises/${await aReadyEnterprise(db.orm, owner.accountId)}/cfes`;
  await issue();
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await noted?.orm.close(true);
  await db?.[Symbol.asyncDispose]();
});

const issue = (headers: Record<string, string> = {}) => owner.client.with(headers).post(path, aCfeBody());

test.each([
  ['a CFE', 4, () => issue()],
  ['with an Idempotency-Key', 5, () => issue({ 'idempotency-key': randomUUID() })],
  ['a read', 4, () => owner.client.get(`${path}/101-1`)],
  ['a list', 4, () => owner.client.get(path)],
])('statements: %s: %i', async (_, count, request) => {
  noted.taken();
  await request();
  expect(noted.taken()).toHaveLength(count);
});

test('connections that know the statements already live through a migration that adds columns', async () => {
  const tables = ['enterprise', 'api_key', 'account', 'cae', 'cfe', 'certificate', 'outbox', 'cfe_sequence'];
  await db.asOwner(...tables.map((table) => `alter table ${table} add column of_the_next_version text`));

  const answers = [await issue(), await issue({ 'idempotency-key': randomUUID() })];

  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect((await owner.client.get(`${path}/101-1`)).status).toBe(200);
});
