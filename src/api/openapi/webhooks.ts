/** The `webhooks` of the document: what customers' servers are sent, and how they answer. */
import type { WebhookEvent } from '../../domain/webhookEvents.ts';
import { WEBHOOK_EVENT_VIEWS } from '../views/webhookEvents.ts';
import { sampleBody } from './eventSamples.ts';
import type { SchemaBook } from './schemas.ts';

/** The chapter that they stand in. */
export const WEBHOOKS_TAG = 'Webhooks';

const header = (name: string, description: string, schema: object) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', ...schema },
});

/** The headers of Standard Webhooks 1.0, which come with every attempt. */
const HEADERS = [
  header(
    'webhook-id',
    'The delivery: the same at every attempt. Take a message with a known id no second time.',
    {
      format: 'uuid',
    },
  ),
  header(
    'webhook-timestamp',
    'When this attempt was made, in seconds since 1970; refuse what is minutes off.',
    {
      pattern: '^[0-9]+$',
    },
  ),
  header(
    'webhook-signature',
    'One or more signatures, separated by spaces: `v1,` and, in base64, the HMAC-SHA256 of `id.timestamp.body` under ' +
      'the bytes that follow `whsec_` in the secret. Two while a secret is being rotated; one that fits is enough.',
    { pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
  ),
];

const ANSWERS = {
  '2XX': { description: 'Taken, within 15 seconds. Answer first, work afterwards.' },
  '410': { description: 'Not taken; the webhook is disabled for new events.' },
  default: {
    description:
      'Not taken (a redirect too): tried again after 1, 5 and 30 minutes, with the same id and bytes.',
  },
};

const SUMMARIES: Readonly<Record<WebhookEvent['name'], string>> = {
  'enterprise.updated': 'Something that shows in the enterprise object has changed',
  'payment.created': 'A plan that costs something was chosen',
  'efactura.login': 'A check of the e-invoicing login has ended',
  'cfe.updated': 'A CFE has moved on; sent only where it is selected',
  'webhook.test': 'Somebody asked for a test of the webhook',
};

/** `webhooks` by the name of the event; the schemas of the bodies go into `book`. */
export function webhooks(book: SchemaBook): Record<string, { post: object }> {
  const names = Object.keys(WEBHOOK_EVENT_VIEWS) as WebhookEvent['name'][];
  return Object.fromEntries(names.map((name) => [name, { post: webhook(name, book) }]));
}

function webhook(name: WebhookEvent['name'], book: SchemaBook): object {
  return {
    summary: SUMMARIES[name],
    tags: [WEBHOOKS_TAG],
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: book.of(WEBHOOK_EVENT_VIEWS[name], 'output'),
          examples: { sample: { summary: SUMMARIES[name], value: JSON.parse(sampleBody(name)) as unknown } },
        },
      },
    },
    responses: ANSWERS,
  };
}
