/** The `webhooks` of the document: the requests to customers' servers, and how they answer. */
import type { WebhookEvent } from '../../domain/webhookEvents.ts';
import { WEBHOOK_EVENT_VIEWS } from '../views/webhookEvents.ts';
import { sampleBody } from './eventSamples.ts';
import type { SchemaBook } from './schemas.ts';

/** Their tag. */
export const WEBHOOKS_TAG = {
  name: 'Webhooks',
  description: 'What the service sends to your server: signed, at least once, in no promised order.',
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
      'the key that the rest of the secret after `whsec_` is in base64: decode it first. There are two while a secret is being rotated; one match is enough.',
    {
      pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$',
      examples: ['v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='],
    },
  ),
];

const ANSWERS = {
  '2XX': { description: 'Accepted; answer within 15 seconds, and process afterwards.' },
  '410': {
    description: 'Not accepted, and tried again like any other; the webhook is also disabled for new events.',
  },
  default: {
    description:
      'Not accepted (nor is a redirect): tried again after 1, 5 and 30 minutes, with the same id and bytes.',
  },
};

const SUMMARIES: Readonly<Record<WebhookEvent['name'], string>> = {
  'enterprise.updated': 'The enterprise object has changed',
  'payment.created': 'A plan with a price was chosen',
  'efactura.login': 'A check of the e-invoicing login has finished',
  'cfe.updated': 'The status of a CFE has changed; sent only to webhooks that select it',
  'daily_report.updated': 'The status of a daily report has changed; sent only to webhooks that select it',
  'cae.low': 'The numbers of a type run low; sent only to webhooks that select it',
  'cae.expiring': 'A CAE with numbers left expires in 30, 7 or 1 days; sent only to webhooks that select it',
  'certificate.expiring': 'The certificate expires in 30, 7 or 1 days; sent only to webhooks that select it',
  'receipt.delivered':
    'An e-mail with a receipt was taken by the mail server; sent only to webhooks that select it',
  'receipt.failed':
    'An e-mail with a receipt was refused, or given up after the last retry; sent only to webhooks that select it',
  'authority.updated':
    'The tax authority has stopped answering, or answers again; sent only to webhooks that select it',
  'webhook.test': 'A test of the webhook was requested',
};

/** `webhooks` by the name of the event; the schemas of the bodies are collected in `book`. */
export function webhooks(book: SchemaBook): Record<string, { post: object }> {
  const names = Object.keys(WEBHOOK_EVENT_VIEWS) as WebhookEvent['name'][];
  return Object.fromEntries(names.map((name) => [name, { post: webhook(name, book) }]));
}

/** `onCfeUpdated` */
const operationIdOf = (name: string): string =>
  `on${name.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`;

function webhook(name: WebhookEvent['name'], book: SchemaBook): object {
  return {
    operationId: operationIdOf(name),
    summary: SUMMARIES[name],
    description:
      'Sent to every webhook that selected it, of accounts that are OWNER or MEMBER of the enterprise. Deliveries repeat until one is accepted and may come in any order: go by `webhook-id` and `timestamp`.',
    tags: [WEBHOOKS_TAG.name],
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      description: 'The event, in UTF-8; sign over these bytes as they came.',
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
