/** The `webhooks` of the document: requests to customers' servers, and the expected answers. */
import { EVENT_NAMES, type EventName, eventRow } from '../../domain/webhooks/events.ts';
import { pascalCase, WEBHOOK_EVENT_VIEWS } from '../../views/webhooks/webhookEvents.ts';
import { moreSamples, sampleBody } from './eventSamples.ts';
import type { SchemaBook } from './schemas.ts';

export const WEBHOOKS_TAG = {
  name: 'Webhooks',
  description:
    'Requests from the service to your server: signed, delivered at least once, in no guaranteed order.',
};

const header = (name: string, description: string, schema: object) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', ...schema },
});

/** The headers of Standard Webhooks 1.0, on every attempt. */
const HEADERS = [
  header(
    'webhook-id',
    'Id of the delivery, the same at every attempt. Ignore a message whose id you have already processed.',
    { format: 'uuid', examples: ['0c0e1ab1-0000-4000-8000-000000000005'] },
  ),
  header(
    'webhook-timestamp',
    'When this attempt was made, in seconds since 1970; reject a timestamp that is minutes off.',
    { pattern: '^[0-9]+$', examples: ['1795186800'] },
  ),
  header(
    'webhook-signature',
    'One or more signatures, separated by spaces: `v1,` and, in base64, the HMAC-SHA256 of `id.timestamp.body` under ' +
      'the base64-decoded rest of the secret after `whsec_`. There are two while a secret is being rotated; one match is enough.',
    {
      pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$',
      examples: ['v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='],
    },
  ),
];

const ANSWERS = {
  '2XX': { description: 'Accepted; answer within 15 seconds, and process afterwards.' },
  '410': {
    description: 'Not accepted, and retried like any other; the webhook is also disabled for new events.',
  },
  default: {
    description:
      'Not accepted (nor is a redirect): retried after 1, 5 and 30 minutes, with the same id and bytes.',
  },
};

const summaryOf = (name: EventName): string => eventRow(name).says.slice(0, -1);

/** Returns `webhooks` by event name; adds the schemas of the bodies to `book`. */
export function webhookOperations(book: SchemaBook): Record<string, { post: object }> {
  return Object.fromEntries(EVENT_NAMES.map((name) => [name, { post: webhook(name, book) }]));
}

function samplesOf(name: EventName): Record<string, { summary: string; value: unknown }> {
  const samples = { sample: [summaryOf(name), sampleBody(name)] as const, ...moreSamples(name) };
  return Object.fromEntries(
    Object.entries(samples).map(([key, [summary, body]]) => [
      key,
      { summary, value: JSON.parse(body) as unknown },
    ]),
  );
}

function webhook(name: EventName, book: SchemaBook): object {
  return {
    operationId: `on${pascalCase(name)}`,
    summary: summaryOf(name),
    description: `${eventRow(name).receivers} Deliveries repeat until one is accepted and may arrive in any order: use \`webhook-id\` and \`timestamp\`.`,
    tags: [WEBHOOKS_TAG.name],
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      description: 'The event, in UTF-8; verify the signature over these bytes as received.',
      content: {
        'application/json': {
          schema: book.of(WEBHOOK_EVENT_VIEWS[name], 'output'),
          examples: samplesOf(name),
        },
      },
    },
    responses: ANSWERS,
  };
}
