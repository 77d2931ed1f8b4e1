import * as z from 'zod';
import { takesIdempotencyKey } from '../idempotency.ts';
import type { Route } from '../route.ts';
import { answerHeaders } from './answerHeaders.ts';
import type { Example, OperationExamples } from './examples.ts';
import { refusalsOf } from './refusals.ts';
import { headerParameters } from './requestHeaders.ts';
import { refusalReference } from './responses.ts';
import type { JsonSchema, SchemaBook } from './schemas.ts';

const JSON_TYPE = 'application/json';

/** Returns the operation object of a route. */
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
        ? fileAnswer(route.success.description, route.file)
        : successAnswer(route, book, examples.answers),
      ...(route.trial
        ? {
            [route.trial.success.status]: jsonAnswer(
              route.trial.success,
              `${capital(route.name)}Trial`,
              book,
              { examples: examples.trials },
            ),
          }
        : {}),
      ...(route.file
        ? {
            304: {
              description: 'Not changed: you already have it',
              headers: answerHeaders(304, { file: true }),
            },
          }
        : {}),
      ...Object.fromEntries(refusalsOf(route).map(([status, codes]) => [status, refusalReference(codes)])),
    },
  };
}

/** Describes the environments of a route: by the caller's key, or by the query. */
function environmentsOf({ sandbox, query }: Route): string {
  if (sandbox) return 'Available in the sandbox.';
  return query instanceof z.ZodObject && 'environment' in query.shape
    ? 'With a production key only; it also reads sandbox receipts, with `environment=sandbox`.'
    : 'Production only.';
}

function description(route: Route): string {
  const { about, role, auth } = route;
  const conditions = [
    ...(role === null ? [] : [`Requires the role ${role} or higher at the enterprise.`]),
    environmentsOf(route),
    ...(auth === 'key' ? ['Requires the API key only.'] : []),
  ].join(' ');
  return `${about}\n\n${conditions}`;
}

/** The tags, with the subject of their operations. */
const TAG_WORDS = {
  'Access tokens': 'Authentication: an API key is exchanged for an access token.',
  Enterprises: 'The companies that issue, their branches, and their daily reports to the authority.',
  eRUT: 'The tax authority’s registry of companies.',
  'E-invoicing credentials': 'The enterprise’s e-invoicing login at the tax authority, and its permissions.',
  Certificate: 'The certificate that signs an enterprise’s CFEs.',
  CAEs: 'The ranges of numbers that the tax authority has authorized.',
  Customers: 'Saved receivers of an enterprise, and the addresses that get their receipts.',
  CFEs: 'Electronic fiscal receipts: issuing, reading, printing and mailing them.',
  Events: 'The events sent to webhooks, for clients that missed some.',
  'Tax authority': 'Whether the tax authority is available.',
} as const;
type Tag = keyof typeof TAG_WORDS;

const TAGS: Readonly<Record<string, Tag>> = {
  tokens: 'Access tokens',
  erut: 'eRUT',
  'efactura-status': 'E-invoicing credentials',
  'validate-efactura': 'E-invoicing credentials',
  certificate: 'Certificate',
  caes: 'CAEs',
  customers: 'Customers',
  cfes: 'CFEs',
  events: 'Events',
  authority: 'Tax authority',
};

/** Returns the tags of `routes`, each once, in document order. */
export function tagsOf(routes: readonly Route[]): { name: string; description: string }[] {
  return [...new Set(routes.map(tagOf))].map((name) => ({ name, description: TAG_WORDS[name] }));
}

/** Returns the tag of a route: the tag of the last tagged segment of its path. */
function tagOf({ path }: Pick<Route, 'path'>): Tag {
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

function successAnswer(
  route: Route,
  book: SchemaBook,
  examples: Readonly<Record<string, Example>> | undefined,
): object {
  const headers = {
    replayed: takesIdempotencyKey(route),
    waits: route.waitFor !== undefined,
    paged: route.nextPage !== undefined,
  };
  return jsonAnswer(route.success, capital(route.name), book, { headers, examples });
}

function jsonAnswer(
  { status, description: words, schema }: Route['success'],
  unnamed: string,
  book: SchemaBook,
  {
    headers,
    examples,
  }: { headers?: Parameters<typeof answerHeaders>[1]; examples: OperationExamples['answers'] | undefined },
): object {
  const data = book.of(schema, 'output');
  const envelope = {
    type: 'object',
    description: 'The envelope of a success.',
    properties: { data },
    required: ['data'],
  };
  // Routes with the same kind of data share one envelope.
  const name = typeof data['$ref'] === 'string' ? data['$ref'].split('/').at(-1) : unnamed;
  return {
    description: words,
    headers: answerHeaders(status, headers),
    content: {
      [JSON_TYPE]: {
        schema: book.name(`${name}Envelope`, envelope),
        ...(examples ? { examples } : {}),
      },
    },
  };
}

const fileAnswer = (description: string, { mediaType }: NonNullable<Route['file']>): object => ({
  description,
  headers: answerHeaders(200, { file: true }),
  content: { [mediaType]: { schema: { type: 'string', contentMediaType: mediaType } } },
});

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
