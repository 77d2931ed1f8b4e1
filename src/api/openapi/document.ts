/** The OpenAPI 3.1 document of the API, made from the definitions that serve its requests. */

import { VERSION } from '../../domain/operations/version.ts';
import { CfeExtra } from '../../domain/receipts/cfeExtra.ts';
import type { Route } from '../route.ts';
import { ANSWER_HEADERS } from './answerHeaders.ts';
import type { Examples } from './examples.ts';
import { INTRODUCTION } from './introduction.ts';
import { operation, tagsOf } from './operation.ts';
import { errorSchemas, refusalResponses } from './responses.ts';
import { createSchemaBook } from './schemas.ts';
import { WEBHOOKS_TAG, webhookOperations } from './webhooks.ts';

/** The document, as plain JSON. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  /** By path below the server's URL, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  /** Requests to customers' servers, by event name, then by method. */
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly [more: string]: unknown;
}

/** Returns the document of `routes`, with the recorded `examples`. */
export function openApiDocument(routes: readonly Route[], examples: Examples): OpenApiDocument {
  const book = createSchemaBook();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const methods = (paths[route.path] ??= {});
    methods[route.method.toLowerCase()] = operation(route, book, examples.operations[route.name]);
  }
  const events = webhookOperations(book);
  // `extra` is text: only the field's `contentSchema` refers to its schema.
  book.of(CfeExtra, 'input');
  return {
    openapi: '3.1.1',
    info: { title: 'Electronic fiscal receipts (CFE)', version: VERSION, description: INTRODUCTION },
    // Relative to the document: one URL serves both environments.
    servers: [{ url: '/v1' }],
    externalDocs: { url: 'docs', description: 'Guides in Spanish and English, with examples that run' },
    tags: [...tagsOf(routes), WEBHOOKS_TAG],
    paths,
    webhooks: events,
    components: {
      schemas: { ...book.named, ...errorSchemas() },
      responses: refusalResponses(routes, examples),
      headers: ANSWER_HEADERS,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'Identifies the account and the environment; shown only once, when it is created.',
        },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'From POST /tokens, with the same API key; valid for `expires_in` seconds.',
        },
      },
    },
  };
}
