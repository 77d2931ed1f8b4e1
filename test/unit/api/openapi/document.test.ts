import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import * as z from 'zod';
import { openApiDocument } from '../../../../src/api/openapi/document.ts';
import { sampleBody } from '../../../../src/api/openapi/eventSamples.ts';
import { type Example, readExamples } from '../../../../src/api/openapi/examples.ts';
import { createSchemaBook } from '../../../../src/api/openapi/schemas.ts';
import { ROUTES } from '../../../../src/api/routes/index.ts';
import { ajvOf } from '../../../support/openapi/conformance.ts';

const EXAMPLES = readExamples();
const DOCUMENT = openApiDocument(ROUTES, EXAMPLES);
/** As whoever reads it gets it. */
const JSON_DOCUMENT = JSON.parse(JSON.stringify(DOCUMENT)) as typeof DOCUMENT;

interface Content {
  content: { 'application/json'?: { schema: object; examples?: Record<string, Example> } };
}
interface Operation {
  operationId: string;
  security: object[];
  parameters: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: Content & { required: boolean };
  responses: Record<string, Partial<Content> & { $ref?: string }>;
}

const operations = Object.entries(JSON_DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    at: `${method.toUpperCase()} ${path}`,
    pointer: `#/paths/${path.replaceAll('/', '~1')}/${method}`,
    operation: operation as Operation,
  })),
);
const byId = (id: string): Operation => {
  const found = operations.find(({ operation }) => operation.operationId === id);
  if (!found) throw new Error(`no operation ${id}`);
  return found.operation;
};

/** Every object schema in a part of the document, with where it stands. */
function objectSchemas(part: unknown, at = ''): [string, Record<string, unknown>][] {
  if (typeof part !== 'object' || part === null) return [];
  const inner = Object.entries(part).flatMap(([key, value]) => objectSchemas(value, `${at}/${key}`));
  return 'type' in part && part.type === 'object' ? [[at, { ...part }], ...inner] : inner;
}

/** The names of all schemas that a part of the document refers to, directly or not. */
function reachable(part: unknown, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    reachable(JSON_DOCUMENT.components['schemas']?.[name], found);
  }
  return found;
}

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(structuredClone(JSON_DOCUMENT))).toEqual({ valid: true });
    expect(JSON_DOCUMENT).toMatchObject({ openapi: '3.1.1', info: { version: '1.0.0' } });
  });

  test('stands in the repository as it is served', () => {
    expect(JSON.parse(readFileSync('openapi.json', 'utf8'))).toEqual(JSON_DOCUMENT);
  });

  test('describes every endpoint and the two aliases', () => {
    expect(operations.map(({ at }) => at).sort()).toEqual(
      [
        'POST /tokens',
        'GET /events',
        'GET /authority',
        'GET /enterprises/{rut}/daily-reports',
        'GET /enterprises/{rut}/daily-reports/{date}',
        'GET /enterprises/{rut}/daily-reports/{date}/xml',
        'POST /enterprises/{rut}/homologation',
        'GET /enterprises/{rut}/homologation',
        'DELETE /enterprises/{rut}/homologation',
        'POST /enterprises',
        'GET /enterprises',
        'POST /enterprises/{rut}/branches',
        'GET /enterprises/{rut}/branches',
        'PUT /enterprises/{rut}/branches/{branch}',
        'DELETE /enterprises/{rut}/branches/{branch}',
        'GET /enterprises/{rut}',
        'PUT /enterprises/{rut}',
        'PATCH /enterprises/{rut}',
        'GET /enterprises/{rut}/erut',
        'GET /erut/{rut}',
        'GET /enterprises/{rut}/efactura-status',
        'POST /enterprises/{rut}/validate-efactura',
        'POST /enterprises/{rut}/certificate',
        'GET /enterprises/{rut}/certificate',
        'POST /enterprises/{rut}/caes',
        'GET /enterprises/{rut}/caes',
        'POST /enterprises/{rut}/customers',
        'GET /enterprises/{rut}/customers',
        'GET /enterprises/{rut}/customers/{doc_type}/{doc_number}',
        'PUT /enterprises/{rut}/customers/{doc_type}/{doc_number}',
        'DELETE /enterprises/{rut}/customers/{doc_type}/{doc_number}',
        'POST /enterprises/{rut}/cfes',
        'POST /enterprises/{rut}/cfes/preview',
        'GET /enterprises/{rut}/cfes',
        'GET /enterprises/{rut}/cfes/{cfe_id}',
        'POST /enterprises/{rut}/cfes/{cfe_id}/emails',
        'GET /enterprises/{rut}/cfes/{cfe_id}/emails',
        'POST /enterprises/{rut}/cfes/{cfe_id}/credit-notes',
        'GET /enterprises/{rut}/cfes/{cfe_id}/credit',
        'GET /enterprises/{rut}/cfes/{cfe_id}/pdf',
        'GET /enterprises/{rut}/cfes/{cfe_id}/xml',
      ].sort(),
    );
  });

  test('is strict about what is sent and open about what is answered', () => {
    const { schemas = {}, responses = {} } = JSON_DOCUMENT.components;
    const named = (names: ReadonlySet<string>) =>
      [...names].flatMap((name) => objectSchemas(schemas[name], name));
    const bodies = operations.flatMap(({ operation }) => operation.requestBody ?? []);
    const sent = named(reachable(bodies));
    const answered = [
      ...named(
        reachable([
          responses,
          JSON_DOCUMENT.webhooks,
          operations.map(({ operation }) => operation.responses),
        ]),
      ),
      ...objectSchemas(responses),
      ...operations.flatMap(({ operation }) => objectSchemas(operation.responses)),
    ];

    expect(sent.length).toBeGreaterThan(10);
    // What stands as text in `extra` is open: keys that mean nothing are kept.
    expect(sent.filter(([, schema]) => schema['additionalProperties'] !== false).map(([at]) => at)).toEqual([
      'CfeExtra',
    ]);
    expect(answered.filter(([, schema]) => 'additionalProperties' in schema).map(([at]) => at)).toEqual([]);
  });

  test('asks for the key alone where tokens are made, for both elsewhere', () => {
    for (const { operation } of operations) {
      expect(operation.security).toEqual([
        operation.operationId === 'createToken' ? { apiKey: [] } : { apiKey: [], accessToken: [] },
      ]);
    }
  });

  test.each<[operation: string, statuses: string[]]>([
    ['createToken', ['200', '400', '401', '403', '408', '413', '415', '429', '431', '500', '503']],
    [
      'createEnterprise',
      ['201', '400', '401', '403', '408', '409', '413', '415', '422', '429', '431', '500', '503'],
    ],
    ['lookUpRut', ['200', '400', '401', '403', '404', '408', '429', '431', '500', '503']],
    [
      'issueCfe',
      [
        '200',
        '201',
        '400',
        '401',
        '403',
        '404',
        '408',
        '409',
        '413',
        '415',
        '422',
        '429',
        '431',
        '500',
        '503',
      ],
    ],
    ['listCfes', ['200', '400', '401', '403', '404', '408', '429', '431', '500', '503']],
    ['getCfePdf', ['200', '304', '400', '401', '403', '404', '408', '409', '429', '431', '500', '503']],
    ['deleteCustomer', ['200', '400', '401', '403', '404', '408', '429', '431', '500', '503']],
  ])('%s can answer %j', (id, statuses) => {
    expect(Object.keys(byId(id).responses)).toEqual(statuses);
  });

  test('names the codes of each refusal', () => {
    const { responses = {} } = JSON_DOCUMENT.components;
    expect(byId('createEnterprise').responses['400']).toEqual({
      $ref: '#/components/responses/InvalidInputOrAlreadyExists',
    });
    expect(JSON.stringify(responses['InvalidInputOrAlreadyExists'])).toContain(
      '"anyOf":[{"$ref":"#/components/schemas/InvalidInputError"},{"$ref":"#/components/schemas/AlreadyExistsError"}]',
    );
    expect(byId('createToken').responses['401']).toEqual({ $ref: '#/components/responses/InvalidApiKey' });
  });

  test('tells the headers that count for an operation', () => {
    const headersOf = (id: string) =>
      byId(id)
        .parameters.filter((one) => one.in === 'header')
        .map(({ name }) => name);
    expect(headersOf('issueCfe')).toEqual([
      'X-Sandbox-Mode',
      'Idempotency-Key',
      'Prefer',
      'Accept-Language',
      'X-Request-Id',
    ]);
    expect(headersOf('createCustomer')).toEqual([
      'X-Sandbox-Mode',
      'Idempotency-Key',
      'Accept-Language',
      'X-Request-Id',
    ]);
    expect(headersOf('listCfes')).toEqual(['X-Sandbox-Mode', 'Accept-Language', 'X-Request-Id']);
    for (const file of ['getCfePdf', 'getCfeXml', 'getDailyReportXml'])
      expect(headersOf(file)).toEqual(['X-Sandbox-Mode', 'If-None-Match', 'Accept-Language', 'X-Request-Id']);
  });

  test('tells query parameters as numbers and dates, none of them required', () => {
    const query = byId('listCfes').parameters.filter((one) => one.in === 'query');
    expect(query).toContainEqual(
      expect.objectContaining({
        name: 'limit',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 100, examples: [25] },
      }),
    );
    expect(query).toContainEqual(
      expect.objectContaining({
        name: 'from',
        required: false,
        schema: expect.objectContaining({ type: 'string', format: 'date' }),
      }),
    );
  });
});

describe('the examples', () => {
  const ajv = ajvOf(DOCUMENT);
  const check = (pointer: string, value: unknown): string => {
    const validate = ajv.compile({ $ref: `openapi${encodeURI(pointer)}` });
    return validate(value) ? 'valid' : ajv.errorsText(validate.errors);
  };
  const all = operations.flatMap(({ at, pointer, operation }) => [
    ...Object.entries(operation.requestBody?.content['application/json']?.examples ?? {}).map(
      ([name, { value }]) =>
        [
          `request of ${at}: ${name}`,
          `${pointer}/requestBody/content/application~1json/schema`,
          value,
        ] as const,
    ),
    ...Object.entries(operation.responses).flatMap(([status, { content }]) =>
      Object.entries(content?.['application/json']?.examples ?? {}).map(
        ([name, { value }]) =>
          [
            `answer of ${at}: ${name}`,
            `${pointer}/responses/${status}/content/application~1json/schema`,
            value,
          ] as const,
      ),
    ),
  ]);

  test.each(all)('is as its schema says: %s', (_, pointer, value) => {
    expect(check(pointer, value)).toBe('valid');
  });

  test.each(Object.entries(EXAMPLES.errors))('is an error as its schema says: %s', (code, body) => {
    expect(check('#/components/schemas/Error', body)).toBe('valid');
    expect(body?.error.code).toBe(code);
  });

  test('show every operation', () => {
    const shown = operations.filter(({ operation }) => {
      const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
      const sent = operation.requestBody?.content['application/json'];
      // A file shows itself.
      const json = success?.content?.['application/json'];
      return (json ? json.examples : success?.content) && (!sent || sent.examples);
    });
    expect(shown.length).toBe(operations.length);
  });

  test('show a CFE that was rejected, to whoever asks for it and to webhooks, with the reasons', () => {
    const rejected = {
      cfe_status: 'REJECTED',
      rejection: [{ code: expect.any(String), message: expect.any(String), detail: expect.anything() }],
    };
    const asked = EXAMPLES.operations['getCfe']?.answers?.['rejected']?.value;
    expect(asked).toMatchObject({ data: { items: [rejected] } });
    expect(JSON.parse(sampleBody('cfe.updated'))).toMatchObject({
      data: { status: 'REJECTED', rejection: rejected.rejection },
    });
  });

  test('show every error, in every answer that may hold it', () => {
    const answers = Object.entries(JSON_DOCUMENT.components.responses ?? {}).map(([name, answer]) => {
      const { schema, examples = {} } = (answer as Content).content['application/json'] ?? { schema: {} };
      const schemas = 'anyOf' in schema ? (schema.anyOf as object[]) : [schema];
      return [name, schemas.length, Object.keys(examples).length] as const;
    });
    expect(answers.filter(([, errors, shown]) => errors !== shown)).toEqual([]);
    const codes = new Set(answers.map(([name]) => name));
    for (const name of ['RateLimited', 'InternalError', 'Unavailable', 'IdempotencyInProgress', 'NotSentYet'])
      expect(codes).toContain(name);
  });

  test('are the documents of the demo, but for the one that is rejected', () => {
    const filled = (text: string): string =>
      text.replace(/"\{[A-Za-z_]+\}"|"\d{4}-\d\d-\d\d"|"1\d\d-1"/g, '""');
    const documents = readdirSync('local/demo/documents')
      .sort()
      .filter((name) => !name.includes('rejected'))
      .map((name) => JSON.parse(filled(readFileSync(`local/demo/documents/${name}`, 'utf8'))) as unknown);
    const examples = Object.values(EXAMPLES.operations['issueCfe']?.requests ?? {}).map(
      ({ value }) => JSON.parse(filled(JSON.stringify(value))) as unknown,
    );
    expect(examples).toEqual(documents);
  });

  test('hold no token, key or certificate that could be used', () => {
    const text = JSON.stringify(EXAMPLES);
    expect(text).not.toMatch(/cfe_(live|test)_|eyJ[\w-]+\.eyJ/);
    expect(text).not.toMatch(/[A-Za-z0-9+/]{200}/);
  });
});

describe('the book of schemas', () => {
  test('refuses two different schemas of one name', () => {
    const book = createSchemaBook();
    book.of(z.object({ a: z.string() }), 'input', 'Thing');
    expect(() => book.of(z.object({ a: z.int() }), 'input', 'Thing')).toThrow('two schemas are named Thing');
  });

  test('keeps a field that is called id', () => {
    const book = createSchemaBook();
    expect(book.of(z.object({ id: z.string() }).meta({ id: 'Thing' }), 'output')).toEqual({
      $ref: '#/components/schemas/Thing',
    });
    expect(book.named['Thing']).toEqual({
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
    });
  });

  test('tells decimals in words, not as a binary divisor', () => {
    const book = createSchemaBook();
    const price = z.number().meta({ multipleOf: 0.001, description: 'Price.' });
    expect(book.of(price, 'input')).toEqual({ type: 'number', description: 'Price. At most 3 decimals.' });
  });
});
