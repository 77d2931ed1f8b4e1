import * as z from 'zod';
import type { ListedEvent } from '../../db/webhooks/events.ts';
import { DeliveryStatusName } from '../../domain/requests/enums.ts';
import { exactNumber } from '../../domain/values/exactNumber.ts';
import { SELECTABLE_EVENTS } from '../../domain/webhooks/events.ts';
import { pascalCase, WEBHOOK_EVENT_VIEWS } from './webhookEvents.ts';

const DELIVERY = '5b7d2f94-2222-4000-8000-000000000001';
const EventDelivery = z
  .object({
    delivery_id: z.uuid().meta({
      description: 'Id of the delivery, which the receiver sees as `webhook-id`.',
      examples: [DELIVERY],
    }),
    webhook_id: z.uuid().meta({
      description: 'Webhook of the account to which it goes.',
      examples: ['0c0e1ab1-0000-4000-8000-000000000002'],
    }),
    status: DeliveryStatusName,
  })
  .meta({ id: 'EventDelivery', description: 'An event on its way to one webhook.' });

const EVENT = '3f0c8a52-1111-4000-8000-000000000001';
const Id = z.uuid().meta({ description: 'Id of the event; goes into `after`.', examples: [EVENT] });
const Deliveries = z.array(EventDelivery).readonly().meta({
  description:
    'Its deliveries to the webhooks of the account, the oldest first; empty when the webhook that selected it was disabled.',
});

const [first, ...others] = SELECTABLE_EVENTS.map((name) =>
  WEBHOOK_EVENT_VIEWS[name].extend({ id: Id, deliveries: Deliveries }).meta({
    id: `Listed${pascalCase(name)}`,
    description: `\`${name}\` as sent to webhooks, with its id and its deliveries.`,
  }),
);
if (!first) throw new Error('there are no events');

/** The answer of GET /events. */
export const EventListView = z
  .object({
    items: z.array(z.union([first, ...others])).meta({ description: 'The events, the oldest first.' }),
    next: z
      .string()
      .nullable()
      .meta({
        description:
          'The value of `after` for the next page; null when there are no more events yet: continue later from the `id` of the last event that you have. An empty page may have a `next` when few events match the requested name.',
        examples: [EVENT, null],
      }),
  })
  .meta({ id: 'EventList', description: 'A page of events.' });

type Item = z.input<typeof EventListView>['items'][number];

/** Returns the item of an event: its webhook body, id and deliveries. */
export function listedEventView({ id, body, deliveries }: ListedEvent): Item {
  return {
    id,
    // Stored bodies come from domain/webhooks/webhookEvents.ts, of this or an earlier version.
    ...(parseExactly(body) as Pick<Item, 'event' | 'timestamp' | 'data'>),
    deliveries: deliveries.map((one) => ({
      delivery_id: one.id,
      webhook_id: one.webhookId,
      status: one.status,
    })),
  } as Item;
}

/** Parses a JSON object, keeping its numbers digit by digit. */
function parseExactly(json: string): unknown {
  // ES2026 passes a reviver the text of each value, which TypeScript's library does not know yet.
  const numbers = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
    typeof value === 'number' && source !== undefined ? exactNumber(source) : value;
  return JSON.parse(json, numbers);
}
