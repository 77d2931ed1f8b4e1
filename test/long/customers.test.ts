import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { findCustomers } from '../../src/db/enterprises/customers.ts';
import { anAccount } from '../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../support/database/database.ts';
import { anEnterprise } from '../support/enterprises/enterprises.ts';

/** So many at one enterprise, and as many again at others. */
const MANY = 100_000;
const PAGE = { skip: 0, limit: 1000 };

let db: TestDatabase;
let rut: string;

beforeAll(async () => {
  db = await cloneDatabase();
  const accountId = await anAccount(db.orm);
  rut = await anEnterprise(db.orm, accountId);
  await fill(rut, MANY);
  for (let i = 0; i < 10; i += 1) await fill(await anEnterprise(db.orm, accountId), MANY / 10);
  await db.asOwner('vacuum analyze customer');
});
afterAll(() => db[Symbol.asyncDispose]());

/** Names of three words of some sixty, every hundredth customer abroad. */
async function fill(of: string, count: number): Promise<void> {
  await db.orm.em.fork().execute(
    `insert into customer (id, rut, doc_type, doc_number, given_number, legal_name, legal_name_search, country_code,
                           notifications, created_at, updated_at)
     select gen_random_uuid(), ?, 'NIFE', i::text, i::text, name, upper(name), case when i % 100 = 0 then 'BR' else 'UY' end, '[]', now(), now()
     from generate_series(1, ?) i,
     lateral (select (array['Almacén', 'Bazar', 'Casa', 'Distribuidora', 'Estancia', 'Ferretería'])[1 + i % 6] || ' '
                     || md5((i % 5000)::text) || ' ' || i as name)`,
    [of, count],
  );
}

/** How PostgreSQL finds what findCustomers asks for: the nodes of its plan, and how many rows come. */
async function planOf(filter: { legalName?: string; docNumber?: string; countryCode?: string }) {
  const em = db.orm.em.fork();
  const execute = jest.spyOn(em.getConnection(), 'execute');
  const rows = (await findCustomers(em, { rut, ...filter }, PAGE)).length;
  const [sql, parameters] = execute.mock.calls.at(-1) ?? [];
  execute.mockRestore();
  const [answer] = await em.execute<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
    `explain (analyze, format json) ${sql as string}`,
    parameters as unknown[],
  );
  const plan = answer?.['QUERY PLAN'][0]?.Plan;
  if (!plan) throw new Error('no plan');
  return { rows, nodes: nodesOf(plan) };
}

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

const nodesOf = (plan: PlanNode): string[] => [
  `${plan['Node Type']}${plan['Index Name'] ? ` ${plan['Index Name']}` : ''}`,
  ...(plan.Plans ?? []).flatMap(nodesOf),
];

test('a part of a name is found by the index of its trigrams and the enterprise', async () => {
  const { rows, nodes } = await planOf({ legalName: '4e732' });

  expect(rows).toBeGreaterThan(0);
  expect(rows).toBeLessThan(1000);
  expect(nodes).toContain('Bitmap Index Scan customer_name_part');
});

test.each([
  ['a document number', { docNumber: '4711' }, 1],
  ['a country', { countryCode: 'BR' }, 1000],
  ['a part that half of the names have', { legalName: 'a' }, 1000],
  ['no filter at all', {}, 1000],
])('%s is answered by an index, never by reading the table', async (_, filter, expected) => {
  const { rows, nodes } = await planOf(filter);

  expect(rows).toBe(expected);
  expect(nodes.filter((node) => /^(Index|Bitmap Index)/.test(node))).not.toEqual([]);
  expect(nodes).not.toContain('Seq Scan');
});
