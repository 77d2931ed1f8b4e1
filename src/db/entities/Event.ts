import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { WebhookEvent } from '../../domain/webhookEvents.ts';

const EventSchema = defineEntity({
  name: 'Event',
  properties: {
    id: p.uuid().primary(),
    /** The enterprise it is about: accounts with a role there may learn of it; null for `webhook.test`. */
    rut: p.text().strictNullable(),
    name: p.text().$type<WebhookEvent['name']>(),
    environment: p.text().$type<Environment>(),
    /** The JSON that is sent, byte for byte the same at every attempt. */
    body: p.text(),
    createdAt: p.datetime(),
  },
});

/** Something that happened, in the words in which customers' servers are told of it (docs/contract.md#events). */
export class Event extends EventSchema.class {}
EventSchema.setClass(Event);
