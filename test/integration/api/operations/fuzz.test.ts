/** Every operation of the OpenAPI document with values made from its schemas, against the service on PostgreSQL. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readExamples } from '../../../../src/api/openapi/examples.ts';
import { setRateLimit } from '../../../../src/commands/people/accounts.ts';
import { Refusal } from '../../../../src/errors.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import type { Answer, Sending } from '../../../support/api/http.ts';
import { SEED } from '../../../support/database/seeds.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { NIGHTLY } from '../../../support/nightly.ts';
import {
  alteredOnce,
  fitting,
  misfitting,
  type Resolve,
  type Schema,
} from '../../../support/openapi/arbitraries.ts';
import { ajvOf, DOCUMENT } from '../../../support/openapi/conformance.ts';
import { aRut, day } from '../../../support/receipts/papers.ts';

/** Requests of each kind to each operation. */
const RUNS = NIGHTLY ? 100 : 10;
const SETTINGS = { numRuns: RUNS, seed: SEED };
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
}
interface Operation {
  id: string;
  method: string;
  path: string;
  pointer: string;
  parameters: Parameter[];
  body: Schema | undefined;
}

const operations: Operation[] = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => {
    const { operationId, parameters, requestBody } = operation as {
      operationId: string;
      parameters: Parameter[];
      requestBody?: { content: { 'application/json': { schema: Schema } } };
    };
    return {
      id: operationId,
      method: method.toUpperCase(),
      path,
      pointer: `openapi#/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}`,
      parameters,
      body: requestBody?.content['application/json'].schema,
    };
  }),
);
const named = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);
const withBody = named.filter(([, { body }]) => body !== undefined);
const withQuery = named.filter(([, { parameters }]) => parameters.some((one) => one.in === 'query'));

const resolve: Resolve = (reference) =>
  DOCUMENT.components['schemas']?.[reference.split('/').at(-1) ?? ''] as Schema;
const ajv = ajvOf(DOCUMENT);

/** The registry of these tests: knows some, not others, and is silent for the rest. */
async function lookUpRut(rut: string) {
  const digit = Number(rut[6]);
  if (digit < 3) return null;
  if (digit < 5) throw new Refusal('UNAVAILABLE', 'The registry is silent.', { retryAfterSeconds: 5 });
  return {
    rut,
    legalName: 'Comercial Ñandú S.A.',
    tradeName: null,
    entityTypeCode: null,
    entityTypeDescription: null,
    activityStatus: 'AA',
    startDate: '2020-01-01',
    businessActivities: [],
    fiscalAddresses: [],
  };
}

const suite = useApi({ lookUpRut });
let rut: string;

beforeAll(async () => {
  const { api, owner, db } = suite;
  for (const environment of ['production', 'sandbox'] as const) {
    await setRateLimit(api.deps, { accountId: owner.accountId, environment, perHour: 10_000_000 });
  }
  rut = await aReadyEnterprise(db.orm, owner.accountId);
});

type Value = string | number | boolean;
type Values = Record<string, Value>;

const partOf = (
  { parameters }: Operation,
  place: Parameter['in'],
  make: typeof fitting,
): fc.Arbitrary<Values> =>
  fc.record(
    Object.fromEntries(
      parameters.filter((one) => one.in === place).map(({ name, schema }) => [name, make(schema, resolve)]),
    ),
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<Values>;

/** Headers that count; `Prefer` never makes a test wait. */
const headersOf = ({ parameters }: Operation): fc.Arbitrary<Record<string, string>> => {
  const has = (name: string) => parameters.some((one) => one.name === name);
  const word = fc.stringMatching(/^[\x21-\x7e]{1,40}$/);
  return fc.record(
    {
      ...(has('Idempotency-Key')
        ? { 'idempotency-key': fc.oneof(word, fc.constantFrom('a', '"a"', '"', 'b')) }
        : {}),
      ...(has('Prefer') ? { prefer: fc.oneof(word, fc.constantFrom('wait=0', 'wait', 'wait="0"')) } : {}),
      ...(has('If-None-Match')
        ? { 'if-none-match': fc.oneof(word, fc.constantFrom('*', '"a", *', 'W/"a"', ',')) }
        : {}),
      'x-request-id': word,
      'x-sandbox-mode': fc.constantFrom('false', 'false', 'false', 'true', 'maybe'),
    },
    { requiredKeys: [] },
  );
};

/** The path with `values`; the enterprise is that of the owner unless one is given. */
function pathOf({ path }: Operation, values: Values, query: Values = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? { rut, doc_type: 'RUC', branch: 2 }[name] ?? '101-1';
    // What the values of a path are made of, the router must see as one part.
    return encodeURIComponent(String(value).toWellFormed()) || 'x';
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.append(name, String(value));
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}

/** Sends as the owner; the client holds the answer against the document. */
async function send(operation: Operation, path: string, sending: Sending = {}): Promise<Answer> {
  const answer = await suite.owner.client.send(operation.method, path, sending);
  expect(answer.status === 503 ? operation.path : 'served').toMatch(/served|erut/);
  if (answer.status === 500) {
    throw new Error(
      `500: ${JSON.stringify(suite.api.lines.findLast(({ msg }) => msg === 'request failed'))}`,
    );
  }
  return answer;
}

const isGiven = (name: string) => name !== '.' && name !== '..';

describe('values that fit', () => {
  test.each(named)('%s answers what is described', async (_, operation) => {
    const body = operation.body ? fitting(operation.body, resolve) : fc.constant(undefined);
    const parts = fc.tuple(
      partOf(operation, 'path', fitting),
      partOf(operation, 'query', fitting),
      headersOf(operation),
      body,
    );
    await fc.assert(
      fc.asyncProperty(parts, fc.boolean(), async ([values, query, headers, sent], isOwn) => {
        fc.pre(Object.values(values).every((value) => isGiven(String(value))));
        const path = pathOf(operation, isOwn ? { ...values, rut } : values, query);
        await send(operation, path, { headers, ...(sent === undefined ? {} : { body: sent }) });
      }),
      SETTINGS,
    );
  });
});

/** The requests of the document's examples, as if they were sent today by the enterprise of these tests. */
const realBodies = ({ id }: Operation): unknown[] =>
  Object.values(readExamples().operations[id]?.requests ?? {}).map(
    ({ value }) =>
      JSON.parse(
        JSON.stringify(value)
          .replace(/("emission_date":)"[^"]*"/, (_, name: string) => `${name}"${day(0)}"`)
          // What was tried above may have taken the example's own: it stands at the field, too.
          .replace(/("(?:rut|doc_number)":)"[^"]*"/, (_, name: string) => `${name}"${aRut()}"`),
      ) as unknown,
  );

describe('real requests', () => {
  // What was tried above may have used up the checks of the day.
  beforeAll(() => suite.db.orm.em.fork().execute('delete from credentials_checks'));

  test.each(withBody)(
    '%s takes them, and answers what is described when they are changed',
    async (_, operation) => {
      // Random bodies may have taken the number of the example's branch.
      if (operation.id === 'createBranch')
        await suite.db.orm.em.fork().execute('delete from branch where rut = ?', [rut]);
      const bodies = realBodies(operation);
      const query: Values = operation.id === 'previewCfe' ? { prices: 'net' } : {};
      const path = pathOf(operation, { rut, doc_type: 'RUC', doc_number: '219999830019' }, query);
      const statuses: number[] = [];
      for (const body of bodies) statuses.push((await send(operation, path, { body })).status);
      // Files are cut short in the examples, a customer or an enterprise is created once, and no CFE has gone out here.
      const isPossible = !/upload|updateCustomer|sendMail|creditCfe/.test(operation.id);
      if (isPossible) expect(statuses.filter((status) => status >= 300)).toEqual([]);

      await fc.assert(
        fc.asyncProperty(
          alteredOnce(fc.constantFrom(...bodies)),
          headersOf(operation),
          async (body, headers) => {
            fc.pre(body !== undefined);
            await send(operation, path, { body: JSON.stringify(body), headers });
          },
        ),
        { ...SETTINGS, numRuns: RUNS * 2 },
      );
    },
  );
});

describe('values that do not fit', () => {
  // A customer that can be updated.
  beforeAll(async () => {
    const [, create] = withBody.find(([, { id }]) => id === 'createCustomer') ?? [];
    if (!create) throw new Error('no operation makes a customer');
    const body = { ...(realBodies(create)[0] as object), doc_type: 'RUC', doc_number: '219999830019' };
    await send(create, pathOf(create, { rut }), { body: JSON.stringify(body) });
  });

  test.each(withBody)('%s refuses a body that breaks its schema', async (_, operation) => {
    const fits = ajv.compile({ $ref: `${operation.pointer}/requestBody/content/application~1json/schema` });
    await fc.assert(
      fc.asyncProperty(misfitting(operation.body ?? {}, resolve), async (body) => {
        fc.pre(body !== undefined && !fits(JSON.parse(JSON.stringify(body))));
        const values = { rut, doc_type: 'RUC', doc_number: '219999830019' };
        const { status } = await send(operation, pathOf(operation, values), { body: JSON.stringify(body) });
        expect([400, 413]).toContain(status);
      }),
      SETTINGS,
    );
  });

  test.each(withBody)('%s refuses what is no JSON', async (_, operation) => {
    const values = { rut, doc_type: 'RUC', doc_number: '219999830019' };
    const bytes = fc.oneof(fc.string({ minLength: 1 }), fc.uint8Array({ minLength: 1, maxLength: 200 }));
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        fc.pre(typeof body !== 'string' || !/^\s*\{\s*\}\s*$/.test(body));
        const { status } = await send(operation, pathOf(operation, values), { body });
        expect(status).toBe(400);
      }),
      SETTINGS,
    );
  });

  test.each(withQuery)('%s refuses a query that breaks its schema', async (_, operation) => {
    const wrong = fc.tuple(
      fc.constantFrom(
        ...operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name),
        'sort',
      ),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(wrong, async ([name, text]) => {
        const answer = await send(operation, pathOf(operation, { rut }, { [name]: text.toWellFormed() }));
        if (name === 'sort') expect(answer.status).toBe(400);
        else expect([200, 400]).toContain(answer.status);
      }),
      SETTINGS,
    );
  });

  test.each(named.filter(([, { path }]) => path.includes('{')))(
    '%s refuses a path that breaks its schema',
    async (_, operation) => {
      const names = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      const wrong = fc.tuple(
        fc.constantFrom(...names),
        fc.oneof(fc.string(), fc.string({ unit: 'grapheme' })),
      );
      await fc.assert(
        fc.asyncProperty(wrong, async ([name, text]) => {
          // Any short figure is a branch that may be, and one is.
          fc.pre(text !== '' && isGiven(text) && !(name === 'branch' && /^\d{1,4}$/.test(text)));
          const { status } = await send(operation, pathOf(operation, { [name]: text }));
          // A document of a foreign country may have any number.
          expect(name === 'doc_number' ? [200, 400, 404] : [400]).toContain(status);
        }),
        SETTINGS,
      );
    },
  );
});

describe('who may ask, and how', () => {
  test.each(Object.entries(DOCUMENT.paths))(
    '%s takes only the methods that are described',
    async (path, item) => {
      const declared = Object.keys(item).map((method) => method.toUpperCase());
      const at = pathOf({ path } as Operation, { doc_number: '1' });
      for (const method of METHODS.filter((one) => !declared.includes(one))) {
        const answer = await suite.owner.client.send(method, at);
        expect([method, answer.status]).toEqual([method, 405]);
      }
      const options = await suite.api.client.send('OPTIONS', at);
      expect(options.headers.get('allow')?.split(', ')).toEqual(
        [...new Set([...declared, 'OPTIONS', ...(declared.includes('GET') ? ['HEAD'] : [])])].sort(),
      );
    },
  );
});
