import * as z from 'zod';
import { takesIdempotencyKey } from '../idempotency.ts';
import type { Route } from '../route.ts';
import { answerHeaders } from './answerHeaders.ts';
import type { Example, OperationExamples } from './examples.ts';
import { refusalsOf } from './refusals.ts';
import { headerParameters } from './requestHeaders.ts';
import { refusalReference } from './responses.ts';
import type { JsonSchema, SchemaBook } from './schemas.ts';

/** The media type of every body. */
const JSON_TYPE = 'application/json';

/** The operation object of a route. */
export function operation(route: Route, book: SchemaBook, examples: OperationExamples = {}): object {
  const { name, summary, auth } = route;
  return {
    operationId: name,
    summary,
    description: description(route),
    tags: [tagOf(route)],
    security: [auth === 'key' ? { apiKey: [] } : { apiKey: [], accessToken: [] }],
    parameters: [...pathParameters(route, book), ...queryParameters(route, book), ...headerParameters(route)],
    ...(route.body ? { requestBody: requestBody(route.body, route, book, examples.requests) } : {}),
    responses: {
      [route.success.status]: route.file
        ? file(route.success.description, route.file)
        : success(route, book, examples.answers),
      ...(route.trial
        ? { [route.trial.success.status]: jsonAnswer(route.trial.success, book, {}, examples.trials) }
        : {}),
      ...(route.file
        ? { 304: { description: 'You have it', headers: answerHeaders(304, { file: true }) } }
        : {}),
      ...Object.fromEntries(refusalsOf(route).map(([status, codes]) => [status, refusalReference(codes)])),
    },
  };
}

function description({ role, sandbox, auth }: Route): string {
  return [
    ...(role === null ? [] : [`Requires the role ${role} or higher at the enterprise.`]),
    sandbox ? 'Available in the sandbox.' : 'Production only.',
    ...(auth === 'key' ? ['Requires the API key only.'] : []),
  ].join(' ');
}

const TAGS: Readonly<Record<string, string>> = {
  tokens: 'Access tokens',
  erut: 'eRUT',
  'efactura-status': 'E-invoicing credentials',
  'validate-efactura': 'E-invoicing credentials',
  certificate: 'Certificate',
  caes: 'CAEs',
  customers: 'Customers',
  cfes: 'CFEs',
};

/** The tag of a route: by the last segment of its path that has one. */
export function tagOf({ path }: Pick<Route, 'path'>): string {
  const word = path.split('/').findLast((part) => Object.hasOwn(TAGS, part));
  return (word === undefined ? undefined : TAGS[word]) ?? 'Enterprises';
}

const parameter = (place: 'path' | 'query', name: string, required: boolean, schema: JsonSchema) => {
  const { description, ...rest } = schema;
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema: rest };
};

function pathParameters({ params }: Route, book: SchemaBook): object[] {
  return Object.entries(params).map(([name, schema]) =>
    parameter('path', name, true, book.of(schema, 'input')),
  );
}

function queryParameters({ query }: Route, book: SchemaBook): object[] {
  if (query === null) return [];
  if (!(query instanceof z.ZodObject)) throw new TypeError('a query needs an object schema');
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, schema]) =>
    parameter('query', name, !schema.safeParse(undefined).success, book.of(schema, 'input')),
  );
}

function requestBody(
  body: NonNullable<Route['body']>,
  route: Route,
  book: SchemaBook,
  examples: Readonly<Record<string, Example>> | undefined,
): object {
  const schema = book.of(body.schema, 'input', `${capital(route.name)}Request`);
  return {
    required: !body.optional,
    description: `At most ${body.limitBytes / 1024} KiB.`,
    content: { [JSON_TYPE]: { schema, ...(examples ? { examples } : {}) } },
  };
}

function success(
  route: Route,
  book: SchemaBook,
  examples: Readonly<Record<string, Example>> | undefined,
): object {
  const headers = {
    replayed: takesIdempotencyKey(route),
    waits: route.waitFor !== undefined,
    paged: route.nextPage !== undefined,
  };
  return jsonAnswer(route.success, book, headers, examples);
}

function jsonAnswer(
  { status, description: words, schema }: Route['success'],
  book: SchemaBook,
  headers: Parameters<typeof answerHeaders>[1] = {},
  examples?: Readonly<Record<string, Example>>,
): object {
  const data = book.of(schema, 'output');
  return {
    description: words,
    headers: answerHeaders(status, headers),
    content: {
      [JSON_TYPE]: {
        schema: { type: 'object', properties: { data }, required: ['data'] },
        ...(examples ? { examples } : {}),
      },
    },
  };
}

const file = (description: string, { mediaType }: NonNullable<Route['file']>): object => ({
  description,
  headers: answerHeaders(200, { file: true }),
  content: { [mediaType]: { schema: { type: 'string', contentMediaType: mediaType } } },
});

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
