import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { startApi, type TestApi, type TestCaller } from '../../support/api.ts';
import { aCfeBody } from '../../support/cfeBodies.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { aReadyEnterprise } from '../../support/enterprises.ts';

let db: TestDatabase;
/** Of the API alone; one connection, so that every statement meets what the one before has left behind there. */
let orm: Orm;
let api: TestApi;
let owner: TestCaller;
let path: string;

beforeAll(async () => {
  db = await cloneDatabase();
  orm = await openOrm({ databaseUrl: db.databaseUrl, pool: 1 });
  api = await startApi({ orm });
  owner = await api.aCaller();
  path = `/enterprises/${await aReadyEnterprise(db.orm, owner.accountId)}/cfes`;
  await issue();
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await orm?.close(true);
  await db?.[Symbol.asyncDispose]();
});

const issue = (headers: Record<string, string> = {}) => owner.client.with(headers).post(path, aCfeBody());

interface Client {
  query: (...args: unknown[]) => unknown;
}
interface Clients {
  connect(): Promise<Client & { release(): void }>;
}

/** What goes to the database during `work`, statement by statement: names of prepared ones, texts of others. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const pool: Clients = await orm.em.getConnection().getNativeClient();
  const client = await pool.connect();
  client.release();
  const sent: string[] = [];
  const { query } = client;
  const send = query.bind(client);
  client.query = (...args) => {
    const [first] = args as [string | { name?: string; text: string }];
    sent.push(typeof first === 'string' ? first : (first.name ?? first.text));
    return send(...args);
  };
  try {
    await work();
  } finally {
    client.query = query;
  }
  return sent;
}

describe('what a request costs the database', () => {
  const BEFORE_A_HANDLER = ['known_api_key', 'admit_request'];

  test('a CFE: two statements before it is judged, one to judge it by, one that stores it', async () => {
    expect(await statementsOf(issue)).toEqual([...BEFORE_A_HANDLER, 'issue_facts', 'issue_cfe']);
  });

  test('with an Idempotency-Key: one more', async () => {
    const statements = await statementsOf(() => issue({ 'idempotency-key': randomUUID() }));

    expect(statements).toEqual([...BEFORE_A_HANDLER, 'kept_for_key', 'issue_facts', 'issue_cfe']);
  });

  test('a read: one beside those before the handler; a list: two', async () => {
    expect(await statementsOf(() => owner.client.get(`${path}/101-1`))).toHaveLength(3);
    expect(await statementsOf(() => owner.client.get(path))).toHaveLength(4);
  });
});

test('connections that know the statements already live through a migration that adds columns', async () => {
  const tables = ['enterprise', 'api_key', 'account', 'cae', 'cfe', 'certificate', 'outbox', 'cfe_sequence'];
  await db.orm.em
    .fork()
    .execute(tables.map((table) => `alter table ${table} add column of_the_next_version text`).join(';'));

  const answers = [await issue(), await issue({ 'idempotency-key': randomUUID() })];

  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect((await owner.client.get(`${path}/101-1`)).status).toBe(200);
});
